/** Requests as they end, for people who watch an account: the port, and the bounds of watching. */
import type { RequestRecord } from './records.ts'
import { limit } from '../lib/primitives/limit.ts'

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
  watchersMax: limit('watchersMax', 128, 'Another watcher of live requests is refused.'),
  watchersPerAccountMax: limit('watchersPerAccountMax', 32, 'Another watcher of the account is refused.'),
  watchersPerUserMax: limit('watchersPerUserMax', 6, 'Another watcher of the user or management key is refused.'),
  rowsPerPushMax: limit('watchedRowsPerPushMax', 100, 'Further rows are counted but not sent.'),
  pushMs: limit('watchPushMs', 300, 'Rows are collected for this time and sent together.'),
  heartbeatMs: 15_000,
  /** How long whoever loses the right to look may go on. Rows are not sent in that time. */
  standingMs: 1_000,
}

/**
 * The port of the feed.
 *
 * - A watcher gets each record of its account that is published while it watches, once, and none of another account.
 * - `published` waits for nothing: it is called in the tick in which a charge is known to be durable.
 */
export type RecordFeed = {
  /** Passes on a request whose end is on disk. */
  published(record: RequestRecord): void
  /** Returns what ends the watch; undefined where the feed is closed. */
  watch(accountId: string, watcher: Watcher): (() => void) | undefined
  /** Ends all watches, so that a shutdown does not wait for them. */
  close(): void
}
