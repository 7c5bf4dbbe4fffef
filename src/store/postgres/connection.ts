/** The connection of the writer. It is replaced when it breaks or when its server is silent for too long. */
import type { ReservedSQL, SQL } from 'bun'
import type { SqlValue } from '../statement.ts'
import { openClient } from './client.ts'

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
        this.reserved = await this.client.reserve()
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

  /** Sends several commands without values as one query. */
  runSimple(text: string): SQL.Query<unknown[]> {
    return this.query(text, []).simple().execute()
  }

  private query<Result>(text: string, bind: readonly SqlValue[]): SQL.Query<Result[]> {
    if (!this.reserved) throw new ConnectionClosed()
    return this.reserved.unsafe(text, bind as SqlValue[])
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
