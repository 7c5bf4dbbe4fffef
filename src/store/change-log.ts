/**
 * What instances tell each other of the rows that each of them has in memory. On SQLite one process has the database,
 * so there is nothing to tell.
 */
import type { WriteStep } from './statement.ts'

/** The tables whose rows are in memory. `catalog` stands for all tables of the catalogue. */
export type ChangeKind = 'account' | 'api_key' | 'catalog' | 'management_key' | 'session' | 'setup_link' | 'user'

/** A part of the memory that follows the database. */
export type ChangeWatcher = {
  readonly kind: ChangeKind
  /** Reads everything. */
  load(): Promise<void>
  /** Reads again what an instance, perhaps this one, has changed. */
  reload(subject: string): Promise<void>
}

export type ChangeLog = {
  /** Whether other instances may write to the database. */
  readonly isShared: boolean
  /** The steps that announce a change. They belong in the transaction of the change. */
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
  announce: () => [],
  watch: (watcher) => watcher.load(),
  catchUp: () => undefined,
  unreadMs: () => 0,
  close: () => Promise.resolve(),
}
