/** The connection of the writer. It is replaced when it breaks or when its server is silent for too long. */
import type { ReservedSQL, SQL } from 'bun'
import type { SqlValue } from '../statement.ts'
import { isPrepared, openClient } from './client.ts'

/**
 * Commands without values. The client sends a text without values by itself and waits for its answer. It prepares a
 * template, which leaves in one write with the queries around it.
 */
const COMMANDS = {
  BEGIN: (sql: ReservedSQL) => sql`BEGIN`,
  COMMIT: (sql: ReservedSQL) => sql`COMMIT`,
  SAVEPOINT: (sql: ReservedSQL) => sql`SAVEPOINT tx`,
  RELEASE: (sql: ReservedSQL) => sql`RELEASE tx`,
}

/**
 * Settings of the connection.
 *
 * - A timeout that ends the wait for a standby would report a commit as durable that is not.
 * - Plans are made once for a text, whatever its values. A plan for many rows by their keys visits each key. While a
 *   table is small, the planner prefers to read all its rows, and that plan would stay as the table grows.
 */
export const SETTINGS = `SET statement_timeout = 0; SET plan_cache_mode = force_generic_plan;
  SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET enable_memoize = off;
  SET jit = off`

const RECONNECT_MS = 20
const RECONNECT_MS_MAX = 1_000

export class WriterConnection {
  private readonly url: string
  private client: SQL | undefined
  private reserved: ReservedSQL | undefined
  private isClosed = false

  constructor(url: string) {
    this.url = url
  }

  /** Connects if there is no connection. Tries until one opens. Rejects only after `close`. */
  async open(): Promise<void> {
    for (let pauseMs = RECONNECT_MS; !this.reserved; pauseMs = Math.min(2 * pauseMs, RECONNECT_MS_MAX)) {
      if (this.isClosed) throw new Error('the connection is closed')
      this.client ??= openClient(this.url, 'writer', { max: 1 })
      try {
        const reserved = await this.client.reserve()
        // A pooler in transaction mode would leave the settings on a connection of somebody else.
        if (isPrepared(this.url)) await reserved.unsafe(SETTINGS).simple()
        this.reserved = reserved
      } catch {
        await this.cut()
        await Bun.sleep(pauseMs)
      }
    }
  }

  /**
   * Sends a query, in the order of the calls. Queries of one tick leave in one write. Each of them fails or succeeds by
   * itself.
   */
  run<Result = unknown>(text: string, bind: readonly SqlValue[] = []): SQL.Query<Result[]> {
    // A query of the client is not sent before somebody waits for it, which would change the order.
    return this.query<Result>(text, bind).execute()
  }

  /** Sends a command, in the order of the calls. */
  command(name: keyof typeof COMMANDS): SQL.Query<unknown[]> {
    return COMMANDS[name](this.sql).execute()
  }

  /** Sends several commands without values as one query. Queries behind it wait for its answer. */
  runSimple(text: string): SQL.Query<unknown[]> {
    return this.query(text, []).simple().execute()
  }

  private query<Result>(text: string, bind: readonly SqlValue[]): SQL.Query<Result[]> {
    return this.sql.unsafe(text, bind as SqlValue[])
  }

  private get sql(): ReservedSQL {
    if (!this.reserved) throw new ConnectionClosed()
    return this.reserved
  }

  /** Ends the connection. Queries in flight reject, and whether they were executed is unknown. */
  async cut(): Promise<void> {
    const { client } = this
    this.client = undefined
    this.reserved = undefined
    await client?.close({ timeout: 0 })
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.cut()
  }
}

/** The connection was given up between two queries. It has the code of a connection that breaks. */
class ConnectionClosed extends Error {
  readonly code = 'ERR_POSTGRES_CONNECTION_CLOSED'
}
