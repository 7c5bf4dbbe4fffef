/**
 * Polls the videos that were started in this tab, on every page of the console, and announces each one that has ended.
 * It sends no requests while none is open.
 */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { isStatus } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { end, forget, hush, seeTasks, useStarted, type StartedTasks } from '../lib/started.ts'
import { isOpen, taskQuery } from '../lib/tasks.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { MINUTE_MS } from '../lib/units.ts'

/** The newest ones are polled at the same time. The others follow as these end. */
const WATCHED_MAX = 6
const TOASTS_MAX = 3
const TOAST_MS = 20_000

/** Most videos take a minute or two. A longer one is polled less often. */
const paceMs = (lastedMs: number): number => (lastedMs < MINUTE_MS ? 1_500 : lastedMs < 600_000 ? 5_000 : 15_000)

type Props = {
  /** The account whose tasks are listed at the moment. */
  readonly listed: string | undefined
}

export function TaskWatch({ listed }: Props) {
  const t = useT()
  const started = useStarted()
  const open = started.filter(({ state }) => state === 'open').slice(0, WATCHED_MAX)
  useEffect(() => {
    // A toast stays until it is closed, so the list cannot hide a message that is about to be shown.
    if (listed !== undefined && started.some(({ account, news }) => account === listed && news === 'badge')) {
      seeTasks(listed)
    }
  }, [listed, started])
  const toasts = started.filter(({ news }) => news === 'toast').slice(0, TOASTS_MAX)
  return (
    <section
      aria-label={t('shell.news')}
      aria-live="polite"
      className="fixed right-3 bottom-3 left-3 z-20 sm:left-auto"
    >
      {open.map((one) => (
        <Watch key={one.request} started={one} />
      ))}
      {toasts.map((one) => (
        <Toast key={one.request} started={one} />
      ))}
    </section>
  )
}

type OneProps = { readonly started: StartedTasks }

function Watch({ started: { account, request, startedAtMs } }: OneProps) {
  const { data, error } = useQuery({
    ...taskQuery(account, request),
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data) ? false : paceMs(Date.now() - startedAtMs)),
  })
  useEffect(() => {
    if (data?.request === request && data.status === 'completed') end(request, 'completed')
    if (data?.request === request && data.status === 'failed') end(request, 'failed')
    // Somebody else deleted it, or it belongs to an account that is no longer visible.
    if (isStatus(error, 404) || isStatus(error, 403)) forget((one) => one.request === request)
  }, [data, error, request])
  return null
}

function Toast({ started: { account, request, model, state } }: OneProps) {
  const t = useT()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Not while the user is active in the list. The badge still shows it.
    const timer = setInterval(() => box.current?.matches(':hover, :focus-within') || hush(request), TOAST_MS)
    return () => clearInterval(timer)
  }, [request])
  return (
    <div ref={box} className="mt-2 flex max-w-sm items-start gap-2 rounded-lg border bg-panel p-3 shadow-float">
      <Icon name={state === 'completed' ? 'check' : 'warning'} className="mt-0.5" />
      <div className="min-w-0 grow">
        <p className="break-words">{t(state === 'completed' ? 'toast.completed' : 'toast.failed', { model })}</p>
        <Link
          to="/a/$account/tasks"
          params={{ account }}
          search={{ task: request }}
          onClick={() => hush(request)}
          className="inline-block min-h-6 text-accent underline"
        >
          {t('toast.show')}
        </Link>
      </div>
      <IconButton icon="cross" label={t('close')} onClick={() => hush(request)} />
    </div>
  )
}
