import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { noChanges, type ChangeLog } from './change-log.ts'
import { copyDatabase } from './copy.ts'
import { lockFolder } from './lock.ts'
import { upgrade, type Upgrade } from './migrate.ts'
import { StoreReader } from './reader.ts'
import { statement, type Row, type Sql, type SqlValue, type WriteStep, type WriteOutcome } from './statement.ts'
import { Writer } from './writer.ts'
import type { DeferredWrite, Lane, OutcomeListener } from './write-queue.ts'

/** Durable storage for one process. It moves rows. The folders above know their meaning. */
export type Store = {
  readonly folder: string
  /** The id of this instance, if others may share its database. Undefined if it has the database alone. */
  readonly instance?: string
  /** Runs a transaction. Resolves once it is durable, or once it is refused with nothing written. */
  write(steps: readonly WriteStep[], lane?: Lane): Promise<WriteOutcome>
  /** Queues a transaction that is written within milliseconds, or is replaced by a more complete one before. */
  defer(stepsOf: () => readonly WriteStep[], heard: OutcomeListener): DeferredWrite
  /** A query that may take long has a share, such as an account. Shares take turns. Other queries go first. */
  query(sql: Sql, bind?: readonly SqlValue[], share?: string): Promise<readonly Row[]>
  /** Queries on one state of the database. */
  together: StoreReader['together']
  /**
   * Runs long queries on a connection and a thread of their own, which end with `use`. No request waits for them. If
   * the store is closed meanwhile, the current query ends and the next one rejects.
   */
  apart<T>(use: (reader: Queryable) => Promise<T>): Promise<T>
  /** Queries for the console, on a connection and a thread of their own. No request waits for them. */
  readonly aside: Queryable & Pick<StoreReader, 'together'>
  /** What instances tell each other. */
  readonly changes: ChangeLog
  /** Transactions that wait or are in flight. The gauge shows whether the disk is the bottleneck. */
  queued(): number
  /** How long the current batch has waited for the disk, or 0 if none is in flight. */
  waitingMs(): number
  /** Writes a consistent copy to a new file with mode 0600, while transactions continue. */
  copy(to: string): Promise<void>
  /** Returns the space of deleted rows to the disk, in small steps that requests go before. */
  shrink(): Promise<void>
  close(): Promise<void>
}

/** A place where rows can be read: the store, a separate thread, or a copy of its database. */
export type Queryable = Pick<Store, 'query'>

export type StoreOptions = {
  /** How long a deferred transaction waits to be replaced. */
  readonly deferMs?: number | undefined
  /** Called if the database had an older schema. */
  readonly onUpgrade?: ((upgrade: Upgrade) => void) | undefined
}

const DEFER_MS = 20
/** Pages of 4 KiB: those kept for the next rows, those moved in one commit, and the most returned at a time. */
const SPARE_PAGES = 1_024
const SHRINK_PAGES = 256
const SHRINK_PAGES_MAX = 262_144
const vacuum = statement(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`)
/** The name of the database file in the data folder. */
export const DATABASE = 'tollgate.db'

/**
 * Opens the data folder for this process alone: lock, migrations, writer thread and reader threads. Throws
 * `FolderInUse` when another process has it. `onFatal` is called when a commit fails. The caller must then stop the
 * process.
 */
export async function openStore(
  folder: string,
  onFatal: (message: string) => void,
  { deferMs = DEFER_MS, onUpgrade }: StoreOptions = {},
): Promise<Store> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const lock = lockFolder(folder)
  const path = join(folder, DATABASE)
  const writer = new Writer(onFatal, deferMs)
  const reader = new StoreReader()
  const readersApart = new Set<StoreReader>()
  let aside: Promise<StoreReader> | undefined
  const openApart = async (): Promise<StoreReader> => {
    const own = new StoreReader()
    readersApart.add(own)
    await own.open(path, 'last')
    return own
  }
  try {
    // SQLite would make the file readable by all. The files beside it get the mode of this one.
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
    const upgraded = upgrade(path)
    if (upgraded) onUpgrade?.(upgraded)
    await writer.open(path)
    await reader.open(path, 'first')
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    folder,
    write: (steps, lane) => writer.write(steps, lane),
    defer: (stepsOf, heard) => writer.defer(stepsOf, heard),
    query: (sql, bind, share) => reader.query(sql, bind, share),
    together: (queries, share) => reader.together(queries, share),
    changes: noChanges,
    async apart(use) {
      const own = await openApart()
      try {
        return await use(own)
      } finally {
        await own.close()
        readersApart.delete(own)
      }
    },
    aside: {
      query: async (sql, bind, share) => (await (aside ??= openApart())).query(sql, bind, share),
      together: async (queries, share) => (await (aside ??= openApart())).together(queries, share),
    },
    queued: () => writer.queued,
    waitingMs: () => writer.waitingMs,
    copy: (to) => copyDatabase(path, to),
    async shrink() {
      const [[mode], [free]] = await Promise.all([
        reader.query('PRAGMA auto_vacuum'),
        reader.query('PRAGMA freelist_count'),
      ])
      if (Number(mode?.['auto_vacuum']) === 0) return
      const pages = Math.min(Number(free?.['freelist_count']) - SPARE_PAGES, SHRINK_PAGES_MAX)
      for (let left = pages; left > 0; left -= SHRINK_PAGES) await writer.write([{ run: vacuum, bind: [] }], 'bulk')
    },
    async close() {
      await Promise.all([reader, ...readersApart].map((each) => each.close()))
      await writer.close()
      lock.release()
    },
  }
}

/** Runs a transaction that must succeed. A refusal means a broken invariant, so it throws. */
export async function mustWrite(store: Store, steps: readonly WriteStep[]): Promise<void> {
  const outcome = await store.write(steps)
  if (outcome.kind === 'refused') throw new Error(`transaction refused at step ${outcome.step}: ${outcome.reason}`)
}
