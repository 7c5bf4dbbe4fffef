/** Requests as they end, for those who watch an account. A request that nobody watches costs one look into a map. */
import type { RequestRecord } from './records.ts'

export type Watcher = {
  /** Called in the tick in which a charge is known to be durable: it must be quick, and must not throw. */
  take(record: RequestRecord): void
  /** The gateway goes: there will be nothing more. */
  end(): void
}

/**
 * Of those who watch: in all, of one account and of one person or program, the rows they are sent at once, and how
 * often. An owner may invite whom they like: an account alone must not take the places of all others.
 */
export const watchBounds = {
  watchersMax: 128,
  watchersPerAccountMax: 32,
  watchersPerUserMax: 6,
  rowsPerPushMax: 100,
  pushMs: 300,
  heartbeatMs: 15_000,
  /** How long whoever loses the right to look may go on. Rows are not sent in that time. */
  standingMs: 1_000,
}

export class RecordFeed {
  private readonly byAccount = new Map<string, Set<Watcher>>()
  private isClosed = false

  /** Tells of a request whose end is on disk. */
  published(record: RequestRecord): void {
    const watchers = this.byAccount.get(record.accountId)
    if (watchers) for (const watcher of watchers) watcher.take(record)
  }

  /** Returns what ends it; undefined when nothing is told any more. */
  watch(accountId: string, watcher: Watcher): (() => void) | undefined {
    if (this.isClosed) return undefined
    const watchers = this.byAccount.get(accountId) ?? new Set()
    this.byAccount.set(accountId, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.byAccount.get(accountId) === watchers) this.byAccount.delete(accountId)
    }
  }

  /** Ends all watching, so that a shutdown does not wait for those who only look. */
  close(): void {
    this.isClosed = true
    for (const watchers of this.byAccount.values()) for (const watcher of watchers) watcher.end()
  }
}
