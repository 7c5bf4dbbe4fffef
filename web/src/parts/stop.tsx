/** The confirmation before something is stopped, with a list of what would stop. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Effects } from '../lib/api-types.gen.ts'
import { api } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { useShow } from '../lib/show.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { Failure, Waiting } from '../ui/page.tsx'

/** The current numbers of what would stop. `of`: the route of the object. */
export function WhatStops({ of }: { readonly of: string }) {
  const t = useT()
  const show = useShow()
  const { data, error, refetch } = useQuery({
    queryKey: ['effects', of],
    queryFn: () => api.get<Effects>(`${of}/effects`),
    staleTime: 0,
    gcTime: 0,
  })
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!data) return <Waiting />
  const { models } = data
  const counts = [
    ['stops.models', models.total],
    ['stops.requests', data.requests],
    ['stops.keys', data.keys],
    ['stops.programs', data.management_keys],
    ['stops.sessions', data.sessions],
    ['stops.offers', data.offers],
  ] as const
  const some = counts.filter(([, n]) => n > 0)
  if (some.length === 0) return <p className="text-soft">{t('stops.nothing')}</p>
  const left = models.total - models.ids.length
  return (
    <div className="space-y-2">
      <ul className="list-disc space-y-1 pl-5">
        {some.map(([words, n]) => (
          <li key={words}>
            {t(words, { n, shown: show.number(n) })}
            {words === 'stops.models' && (
              <p
                className="mt-1 max-h-32 overflow-y-auto rounded-md bg-sunken p-2 font-mono text-xs break-words"
                tabIndex={0}
              >
                {models.ids.join(', ')}
                {left > 0 && ` ${t('stops.more', { n: left })}`}
              </p>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

type Props = {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  /** The result of the action, and whether it can be undone. */
  readonly text: string
  /** The route that counts what would stop. */
  readonly of?: string | undefined
  /** The text of the button. */
  readonly action: string
  readonly isBusy: boolean
  readonly error: Error | null
  readonly onStop: () => void
  readonly children?: ReactNode
}

export function StopDialog({ open, onClose, title, text, of, action, isBusy, error, onStop, children }: Props) {
  const t = useT()
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <div className="space-y-3">
        {error && <Failure error={error} />}
        <p>{text}</p>
        {of !== undefined && <WhatStops of={of} />}
        {children}
        <DialogButtons>
          <Button onClick={onClose} autoFocus>
            {t('cancel')}
          </Button>
          <Button kind="danger" busy={isBusy} onClick={onStop}>
            {action}
          </Button>
        </DialogButtons>
      </div>
    </Dialog>
  )
}
