import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { hasWords, useT, type Key } from '../../lib/i18n/language.ts'
import { exact, nanoOf } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { usePieceName } from '../../parts/prices.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Empty, Failure, Note, Panel } from '../../ui/page.tsx'
import { Badge } from '../../ui/text.tsx'
import { importPrices, type Import, type Wanted } from './prices.ts'

/** List prices are looked at before they hold: what is approved is what was shown, or nothing. */
export function ImportPanel() {
  const t = useT()
  const [provider, setProvider] = useState('')
  const [markup, setMarkup] = useState('')
  const wanted: Wanted = {
    ...(provider.trim() === '' ? {} : { provider: provider.trim() }),
    ...(markup.trim() === '' ? {} : { markup: markup.trim().endsWith('%') ? markup.trim() : `${markup.trim()}%` }),
  }
  const look = useMutation({ mutationFn: (asked: Wanted) => importPrices(asked) })
  const approve = useMutation({ mutationFn: (asked: Wanted) => importPrices(asked), onSuccess: () => look.reset() })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    approve.reset()
    look.mutate(wanted)
  }
  const error = look.error ?? approve.error
  return (
    <div className="space-y-4">
      <Panel>
        <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
          <div className="w-56">
            <TextField
              label={t('routing.provider')}
              placeholder={t('prices.all')}
              value={provider}
              onChange={(event) => setProvider(event.target.value)}
            />
          </div>
          <div className="w-40">
            <TextField
              label={t('prices.markup')}
              placeholder={t('prices.asSet')}
              pattern="\d+(\.\d+)?\s*%?"
              value={markup}
              onChange={(event) => setMarkup(event.target.value)}
            />
          </div>
          <Button type="submit" kind="primary" busy={look.isPending}>
            {t('prices.look')}
          </Button>
        </form>
        <p className="mt-2 text-xs text-soft">{t('prices.importHint')}</p>
      </Panel>
      {error && <Failure error={error} />}
      {approve.data && <Note kind="good">{t('prices.applied', { n: approve.data.changes.length })}</Note>}
      {look.data && (
        <Difference
          found={look.data}
          isBusy={approve.isPending}
          onApprove={() => approve.mutate({ ...look.variables, approved: look.data.fingerprint })}
        />
      )}
    </div>
  )
}

const units: Readonly<Record<string, Key>> = {
  input: 'price.input',
  'cached input': 'price.cached_input',
  'cache write': 'price.cache_write',
  'cache write of an hour': 'price.cache_write_1h',
  output: 'price.output',
  reasoning: 'price.reasoning',
  'image input': 'price.image_input',
  'image output': 'price.image_output',
}

const limits: Readonly<Record<string, Key>> = {
  contextTokens: 'models.context',
  outputTokensMax: 'models.longest',
  outputTokensDefault: 'routing.usualOutput',
  dimensions: 'models.dimensions',
}

/** The API has two words for a value that is not there. */
const isSaid = (value: string | null): value is string => value !== null && value !== 'unknown' && value !== 'none'

/** Prices are dollars, counts have thousands, and texts come in quotes. */
function useValue(): (what: string, value: string) => string {
  const t = useT()
  const show = useShow()
  return (what, value) => {
    const origin = `origin.${value}`
    if (what === 'origin') return hasWords(origin) ? t(origin) : value
    if (/^(?:sale|cost) /.test(what) && /^\d/.test(value)) return exact(nanoOf(value))
    if (value.startsWith('"')) return JSON.parse(value) as string
    return /^\d+$/.test(value) ? show.number(value) : value
  }
}

/** The API names what would change in English: what is of a known pattern is said in the language of whoever looks. */
function useSubject(): (what: string) => string {
  const t = useT()
  const show = useShow()
  const pieceName = usePieceName()
  return (what) => {
    if (what === 'origin') return t('prices.of.origin')
    const [, subject = '', name = '', above] = /^(sale|limit|cost \S+) (.+?)(?: above (\d+) tokens)?$/.exec(what) ?? []
    const known = units[name]
    const unit = known ? t(known) : pieceName(name)
    const part = above === undefined ? unit : `${unit} · ${t('price.above', { tokens: show.number(Number(above)) })}`
    if (subject === 'sale') return t('prices.of.sale', { unit: part })
    if (subject === 'limit') return limits[name] ? t(limits[name]) : t('prices.of.limit', { name })
    return subject === '' ? what : t('prices.of.cost', { offer: subject.slice('cost '.length), unit: part })
  }
}

type DifferenceProps = { readonly found: Import; readonly isBusy: boolean; readonly onApprove: () => void }

function Difference({ found, isBusy, onApprove }: DifferenceProps) {
  const t = useT()
  const subjectOf = useSubject()
  const valueOf = useValue()
  return (
    <Panel
      title={t('prices.found', { n: found.changes.length, same: found.unchanged, skipped: found.skipped.length })}
      tools={
        found.changes.length > 0 && (
          <Button kind="primary" icon="check" busy={isBusy} onClick={onApprove}>
            {t('prices.approve')}
          </Button>
        )
      }
      isFlush
    >
      {found.changes.length === 0 && <Empty>{t('prices.nothingNew')}</Empty>}
      <ul>
        {found.changes.map(({ model, kind, differences }) => (
          <li key={model} className="border-b px-4 py-2 last:border-0">
            <p className="flex flex-wrap items-center gap-2 font-medium">
              <span className="min-w-0 break-words">{model}</span> <Badge>{t(`prices.${kind}`)}</Badge>
            </p>
            <ul className="mt-1 grid gap-x-6 sm:grid-cols-2">
              {differences.map(({ what, before, after }) => (
                <li key={what} className="flex items-end justify-between gap-x-2 text-soft">
                  <span className="min-w-0 break-words">{subjectOf(what)}</span>
                  <span className="flex max-w-1/2 shrink-0 flex-wrap justify-end gap-x-2">
                    {isSaid(before) && <del>{valueOf(what, before)}</del>}
                    <ins className="text-ink no-underline">{isSaid(after) ? valueOf(what, after) : '—'}</ins>
                  </span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {found.skipped.length > 0 && (
        <details className="border-t px-4 py-2">
          <summary className="min-h-6">{t('prices.skipped', { n: found.skipped.length })}</summary>
          <ul className="text-soft">
            {found.skipped.map(({ what, reason }) => (
              <li key={`${what} ${reason}`}>{`${what}: ${reason}`}</li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}
