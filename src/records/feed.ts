/** The feed of finished requests for people who watch an account: the port, and its bounds. */
import type { RequestRecord } from './records.ts'
import { limit } from '../lib/primitives/limit.ts'

export type Watcher = {
  /** Called in the tick in which a charge is known to be durable. It must be quick and must not throw. */
  take(record: RequestRecord): void
  /** The gateway shuts down, and nothing more follows. */
  end(): void
}

/**
 * The bounds of watching: watchers in total, per account and per user or management key, rows per push, and the
 * interval of pushes. An owner may invite any number of people, so one account must not take all places.
 */
export const watchBounds = {
  watchersMax: limit('watchersMax', 128, 'Another watcher of live requests is refused.'),
  watchersPerAccountMax: limit('watchersPerAccountMax', 32, 'Another watcher of the account is refused.'),
  watchersPerUserMax: limit('watchersPerUserMax', 6, 'Another watcher of the user or management key is refused.'),
  rowsPerPushMax: limit('watchedRowsPerPushMax', 100, 'Further rows are counted but not sent.'),
  pushMs: limit('watchPushMs', 300, 'Rows are collected for this time and sent together.'),
  heartbeatMs: 15_000,
  /** How long a watcher stays connected after losing its permission. No rows are sent in that time. */
  standingMs: 1_000,
}

/**
 * The port of the feed.
 *
 * - A watcher gets each record of its account that is published while it watches, once, and none of another account.
 *   The feed of several instances needs time to begin: a watch counts from `caughtUp`.
 * - `published` waits for nothing. It is called in the tick in which a charge is known to be durable.
 */
export type RecordFeed = {
  /** Sends a request on whose end is on disk. */
  published(record: RequestRecord): void
  /** Returns a function that ends the watch, or undefined if the feed is closed. */
  watch(accountId: string, watcher: Watcher): (() => void) | undefined
  /** Resolves once no record is missed that ends from now on. Undefined if none ever is. */
  caughtUp(): Promise<void> | undefined
  /** Ends all watches, so that a shutdown does not wait for them. */
  close(): void
}
