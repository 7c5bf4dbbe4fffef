/**
 * Videos that were started in this tab. They are in memory alone: what outlives the tab is under Tasks. As long as one
 * is open it is asked after, wherever in the console one is; its end is news until somebody has been told.
 */
import { useSyncExternalStore } from 'react'

export type Started = {
  readonly account: string
  readonly request: string
  readonly model: string
  readonly startedAtMs: number
  /** The first frame or reference, as an address of this tab. */
  readonly poster: string | undefined
  readonly state: 'open' | 'completed' | 'failed'
  /** `toast`: to be said at once. `badge`: seen, but not where it is listed. */
  readonly news: 'none' | 'toast' | 'badge'
}

const KEPT_MAX = 30
let all: readonly Started[] = []
const listeners = new Set<() => void>()

function put(next: readonly Started[]): void {
  all = next
  for (const listener of listeners) listener()
}

const change = (isMeant: (one: Started) => boolean, changes: Partial<Started>): void => {
  if (all.some(isMeant)) put(all.map((one) => (isMeant(one) ? { ...one, ...changes } : one)))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Newest first. */
export const useStarted = (): readonly Started[] => useSyncExternalStore(subscribe, () => all)

export function start(one: Pick<Started, 'account' | 'request' | 'model' | 'poster'>): void {
  const next = [{ ...one, startedAtMs: Date.now(), state: 'open', news: 'none' } as const, ...all]
  for (const { poster } of next.slice(KEPT_MAX)) if (poster) URL.revokeObjectURL(poster)
  put(next.slice(0, KEPT_MAX))
}

export const end = (request: string, state: 'completed' | 'failed'): void =>
  change((one) => one.request === request && one.state === 'open', { state, news: 'toast' })

export const hush = (request: string): void =>
  change((one) => one.request === request && one.news === 'toast', { news: 'badge' })

/** Whoever sees the list knows. */
export const seeTasks = (account: string): void =>
  change((one) => one.account === account && one.news !== 'none', { news: 'none' })

export const forget = (isMeant: (one: Started) => boolean): void => {
  for (const { poster } of all.filter(isMeant)) if (poster) URL.revokeObjectURL(poster)
  if (all.some(isMeant)) put(all.filter((one) => !isMeant(one)))
}
