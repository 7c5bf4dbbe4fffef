/**
 * What instances tell each other of the rows that each of them has in memory. On SQLite one process has the database,
 * so there is nothing to tell.
 */
import type { WriteStep } from './statement.ts'
import type { Lane } from './write-queue.ts'

/**
 * The tables whose rows are in memory. `catalog` stands for all tables of the catalogue. `response` stands for one that
 * is to be cancelled by the instance that makes it, and `rest` for a provider that is to be tried again.
 */
export type ChangeKind =
  | ('account' | 'api_key' | 'catalog' | 'management_key')
  | ('response' | 'rest' | 'session' | 'setup_link' | 'user')

/** A part of the memory that follows the database. */
export type ChangeWatcher = {
  readonly kind: ChangeKind
  /** Reads everything. */
  load(): Promise<void>
  /** Reads again what an instance, perhaps this one, has changed. */
  reload(subject: string): Promise<void>
}

export type ChangeLog = {
  /**
   * The lane of transactions that announce. They lock rows in any order, so they share no batch with others: two
   * instances could wait for each other.
   */
  readonly lane: Lane
  /** Whether other instances may write to the database. */
  readonly isShared: boolean
  /** The steps that announce a change. They belong at the end of the transaction of the change. */
  announce(kind: ChangeKind, subject: string): readonly WriteStep[]
  /** Loads a part of the memory, and reloads from then on what is announced, in the order of the transactions. */
  watch(watcher: ChangeWatcher): Promise<void>
  /** Resolves once everything that was announced before the call is in memory. Undefined if it always is. */
  catchUp(): Promise<void> | undefined
  /** For how long announcements may have gone unread. */
  unreadMs(): number
  close(): Promise<void>
}

/** The log of a process that has its database alone. */
export const noChanges: ChangeLog = {
  isShared: false,
  lane: 'urgent',
  announce: () => [],
  watch: (watcher) => watcher.load(),
  catchUp: () => undefined,
  unreadMs: () => 0,
  close: () => Promise.resolve(),
}
