/**
 * Videos that were started in this tab. They are kept in memory only. The page Tasks lists them permanently. Open
 * videos are polled on every page of the console, and the end of a video is news until the user has seen it.
 */
import { tabState } from './tab-state.ts'

export type StartedTasks = {
  readonly account: string
  readonly request: string
  readonly model: string
  readonly startedAtMs: number
  /** The first frame or reference, as an object URL of this tab. */
  readonly poster: string | undefined
  readonly state: 'open' | 'completed' | 'failed'
  /** `toast`: to be announced now. `badge`: announced, but not yet seen in its list. */
  readonly news: 'none' | 'toast' | 'badge'
}

const KEPT_MAX = 30
const all = tabState<readonly StartedTasks[]>([])

const change = (isMeant: (one: StartedTasks) => boolean, changes: Partial<StartedTasks>): void => {
  if (all.get().some(isMeant)) all.set(all.get().map((one) => (isMeant(one) ? { ...one, ...changes } : one)))
}

/** Newest first. */
export const useStarted = all.use

export function start(one: Pick<StartedTasks, 'account' | 'request' | 'model' | 'poster'>): void {
  const next = [{ ...one, startedAtMs: Date.now(), state: 'open', news: 'none' } as const, ...all.get()]
  for (const { poster } of next.slice(KEPT_MAX)) if (poster) URL.revokeObjectURL(poster)
  all.set(next.slice(0, KEPT_MAX))
}

export const end = (request: string, state: 'completed' | 'failed'): void =>
  change((one) => one.request === request && one.state === 'open', { state, news: 'toast' })

export const hush = (request: string): void =>
  change((one) => one.request === request && one.news === 'toast', { news: 'badge' })

/** Called when the user sees the list. */
export const seeTasks = (account: string): void =>
  change((one) => one.account === account && one.news !== 'none', { news: 'none' })

export const forget = (isMeant: (one: StartedTasks) => boolean): void => {
  for (const { poster } of all.get().filter(isMeant)) if (poster) URL.revokeObjectURL(poster)
  if (all.get().some(isMeant)) all.set(all.get().filter((one) => !isMeant(one)))
}
