/** The switch for live updates, their state, and the number of waiting rows. */
import { useT, type Key } from '../../lib/language.ts'
import { prefer, usePreferences } from '../../lib/preferences.ts'
import { useProblemText } from '../../lib/problem.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icon.tsx'
import type { Connection, Live } from './live.ts'

/** On by default. The browser remembers when it is switched off. */
export function useLiveChoice(): readonly [boolean, (isOn: boolean) => void] {
  const { live = true } = usePreferences()
  return [live, (isOn) => prefer({ live: isOn })]
}

const SWITCH = 'live-switch'

type Props = {
  readonly connection: Connection
  readonly isOn: boolean
  readonly isPaused: boolean
  readonly onChange: (isOn: boolean) => void
}

export function LiveSwitch({ connection, isOn, isPaused, onChange }: Props) {
  const t = useT()
  const problemText = useProblemText()
  const { kind } = connection
  const isBad = kind === 'lost' || kind === 'refused'
  const word: Key | undefined =
    kind === 'lost' ? 'live.lost' : kind === 'open' ? (isPaused ? 'live.paused' : 'live.following') : undefined
  return (
    <div className="flex items-center gap-2">
      {/* On a phone the text would shift the list whenever it changes, so it is hidden. */}
      <span role="status" className={isBad ? 'text-bad' : 'text-soft max-sm:sr-only'}>
        {isBad && <Icon name="warning" className="mr-1 -mt-0.5" />}
        {isOn && word && t(word)}
        {isBad && connection.error && <span className="block text-xs">{problemText(connection.error).text}</span>}
      </span>
      <button
        id={SWITCH}
        type="button"
        role="switch"
        aria-checked={isOn}
        onClick={() => onChange(!isOn)}
        className="inline-flex min-h-8 items-center gap-2 rounded-md border border-edge px-3 hover:bg-hover"
      >
        <span
          aria-hidden="true"
          className={classes('relative h-4 w-7 rounded-full border', isOn ? 'border-accent bg-accent' : 'border-edge')}
        >
          <span
            className={classes(
              'absolute top-0.5 size-2.5 rounded-full transition-[left] duration-100 motion-reduce:transition-none',
              isOn ? 'left-3.5 bg-on-accent' : 'left-0.5 bg-edge',
            )}
          />
        </span>
        {t('live.name')}
      </button>
    </div>
  )
}

/** Rows do not move while the user reads. New rows wait behind a button. */
export function Waited({ live: { held, bringIn } }: { readonly live: Live }) {
  const t = useT()
  const show = (): void => {
    bringIn()
    document.querySelector('#main [role=table]')?.scrollTo({ top: 0 })
    // The button disappears. The focus must stay in the page, but outside of the list, where it would hold rows back
    // again.
    document.getElementById(SWITCH)?.focus()
  }
  return (
    <>
      {/* A screen reader announces once that rows are waiting, not each row. */}
      <span role="status" className="sr-only">
        {held > 0 ? t('live.waiting') : ''}
      </span>
      {held > 0 && (
        <div className="pointer-events-none absolute inset-x-0 top-10 z-20 flex justify-center">
          <Button kind="primary" icon="up" onClick={show} className="pointer-events-auto !rounded-full shadow-float">
            {t('live.new', { n: held })}
          </Button>
        </div>
      )}
    </>
  )
}
