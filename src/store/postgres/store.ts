/** The store on PostgreSQL. It is loaded only where the URL of a database is set. */
import { hostname } from 'node:os'
import manifest from '../../../package.json' with { type: 'json' }
import { timeOrderedId } from '../../lib/primitives/ids.ts'
import { StoreReader, type ReaderThread } from '../reader.ts'
import type { Store } from '../store.ts'
import { COLUMN_TYPES, type ColumnTypes } from './arrays.ts'
import { openClient } from './client.ts'
import { WriterConnection } from './connection.ts'
import { REGISTER } from './instance.ts'
import { migratePostgres } from './migrate.ts'
import { PolledChangeLog } from './polled-change-log.ts'
import { postgresText } from './text.ts'
import type { StoreEndEvent } from './store-end.ts'
import { PostgresWriter } from './writer.ts'

export type PostgresOptions = {
  /** The folder of the files that stand beside the database. */
  readonly folder: string
  /** The id of this instance. The default is a new one. */
  readonly instance?: string | undefined
  /** Called once nothing can be written any more, with the event to log. The caller must then stop the process. */
  readonly onFatal: (message: string, event: StoreEndEvent) => void
  /** How long a deferred transaction waits to be replaced. */
  readonly deferMs?: number | undefined
  /** After this time without an answer a connection is given up and replaced. */
  readonly silenceMs?: number | undefined
}

const DEFER_MS = 20

const postgresThread: ReaderThread = {
  worker: new URL('./postgres-reader-worker.ts', import.meta.url),
  textOf: postgresText,
}

/** Opens the database of a URL: migrations, the connection that writes, and the threads that read. */
export async function openPostgresStore(
  url: string,
  { folder, instance = timeOrderedId('run_'), onFatal, deferMs = DEFER_MS, silenceMs }: PostgresOptions,
): Promise<Store> {
  const types = await prepareDatabase(url)
  const connection = new WriterConnection(url)
  await connection.open()
  await connection.run(REGISTER, [instance, manifest.version, `${hostname()} ${process.pid}`])
  const writer = new PostgresWriter(connection, instance, { types, onFatal, deferMs, silenceMs })
  const readers = new Set<StoreReader>()
  const openReader = async (turn: 'first' | 'last'): Promise<StoreReader> => {
    const own = new StoreReader(postgresThread)
    readers.add(own)
    await own.open(url, turn)
    return own
  }
  const reader = await openReader('first')
  let aside: Promise<StoreReader> | undefined
  const openedAside = (): Promise<StoreReader> => (aside ??= openReader('last'))
  const rows: Pick<Store, 'query' | 'write'> = {
    write: (steps, lane) => writer.write(steps, lane),
    query: (text, bind, share) => reader.query(text, bind, share),
  }
  const changes = await PolledChangeLog.open(url, rows, { onFatal })
  return {
    folder,
    instance,
    ...rows,
    changes,
    defer: (stepsOf, heard) => writer.defer(stepsOf, heard),
    together: (queries, share) => reader.together(queries, share),
    async apart(use) {
      const own = await openReader('last')
      try {
        return await use(own)
      } finally {
        await own.close()
        readers.delete(own)
      }
    },
    aside: {
      query: async (text, bind, share) => (await openedAside()).query(text, bind, share),
      together: async (queries, share) => (await openedAside()).together(queries, share),
    },
    queued: () => writer.queued,
    waitingMs: () => writer.waitingMs,
    copy: () => Promise.reject(new Error(NO_COPY)),
    // PostgreSQL returns the space of deleted rows by itself.
    shrink: () => Promise.resolve(),
    async close() {
      await changes.close()
      await Promise.all([...readers].map((each) => each.close()))
      await writer.close()
    },
  }
}

const NO_COPY = "PostgreSQL is backed up with its own tools, such as pg_basebackup or the provider's backups"

/** Upgrades the schema, and reads the types of its columns. */
async function prepareDatabase(url: string): Promise<ColumnTypes> {
  const sql = openClient(url, 'start', { max: 1 })
  try {
    await migratePostgres(sql)
    const columns = (await sql.unsafe(COLUMN_TYPES)) as { name: string; type: string }[]
    return new Map(columns.map(({ name, type }) => [name, type]))
  } finally {
    await sql.close()
  }
}
