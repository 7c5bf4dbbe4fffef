import { FairQueue } from '../lib/primitives/fair-queue.ts'
import type { Row, Sql, SqlValue } from './statement.ts'
import type { Query, ReaderReply, ReaderRequest, ThreadPriority } from './reader-worker.ts'

/** A query of `together`. */
export type StoreQuery = { readonly sql: Sql; readonly bind: readonly SqlValue[] }

type PendingRead = {
  readonly queries: readonly Query[]
  readonly share: string | undefined
  readonly resolve: (results: readonly (readonly Row[])[]) => void
  readonly reject: (error: Error) => void
}

/** The number of shared queries that the thread has at once. Any other query waits for at most this many. */
const SHARED_MAX = 2

/** The thread that reads a kind of database, and which text it takes. */
export type ReaderThread = { readonly worker: URL; readonly textOf: (sql: Sql) => string }

const sqliteThread: ReaderThread = {
  worker: new URL('./reader-worker.ts', import.meta.url),
  textOf: (sql) => (typeof sql === 'string' ? sql : sql.sqlite),
}

/** The serving thread's side of the reader. */
export class StoreReader {
  private readonly worker: Worker
  private readonly textOf: ReaderThread['textOf']
  private readonly waiting = new Map<number, PendingRead>()
  /** Queries that wait for their turn. */
  private readonly shared = new FairQueue<PendingRead>()
  private sharedOut = 0
  private next = 1
  private opened: (() => void) | undefined
  private closed: (() => void) | undefined
  private closing: Promise<void> | undefined

  constructor(thread = sqliteThread) {
    this.worker = new Worker(thread.worker.href)
    this.textOf = thread.textOf
    this.worker.onmessage = ({ data }: MessageEvent<ReaderReply>) => this.receive(data)
  }

  /** Opens an existing database. */
  open(database: string, turn: ThreadPriority): Promise<void> {
    return new Promise((resolve) => {
      this.opened = resolve
      this.worker.postMessage({ kind: 'open', database, turn } satisfies ReaderRequest)
    })
  }

  /**
   * Runs a query. Integers are returned as bigint. Rejects on an SQL error, which is a programmer's error, and after
   * `close`. A query that may take long has a share, such as an account. Shares take turns, so that a large query
   * delays no other share. Queries without a share go first.
   */
  async query(sql: Sql, bind: readonly SqlValue[] = [], share?: string): Promise<readonly Row[]> {
    const [rows = []] = await this.together([{ sql, bind }], share)
    return rows
  }

  /** Runs several queries on one state of the database. A concurrent write is in all of the results or in none. */
  together(queries: readonly StoreQuery[], share?: string): Promise<readonly (readonly Row[])[]> {
    if (this.closing) return Promise.reject(new Error('the database is closed'))
    return new Promise((resolve, reject) => {
      const texts = queries.map(({ sql, bind }) => ({ sql: this.textOf(sql), bind }))
      const query = { queries: texts, share, resolve, reject }
      if (share === undefined) return this.ask(query)
      this.shared.add(share, query)
      this.askShared()
    })
  }

  private ask(query: PendingRead): void {
    const id = this.next++
    this.waiting.set(id, query)
    this.worker.postMessage({ kind: 'query', id, queries: query.queries } satisfies ReaderRequest)
  }

  private askShared(): void {
    while (this.sharedOut < SHARED_MAX) {
      const [, query] = this.shared.next() ?? []
      if (!query) return
      this.sharedOut++
      this.ask(query)
    }
  }

  /**
   * Answers the queries received so far, then closes the connection. If the thread were only terminated, the connection
   * would be closed later. The last connection locks the database while it folds the log, and the next start would find
   * it locked. A second call is safe.
   */
  close(): Promise<void> {
    return (this.closing ??= this.end())
  }

  private async end(): Promise<void> {
    for (let next = this.shared.next(); next; next = this.shared.next()) this.ask(next[1])
    const closed = new Promise<void>((resolve) => (this.closed = resolve))
    this.worker.postMessage({ kind: 'close' } satisfies ReaderRequest)
    await closed
    this.worker.terminate()
  }

  private receive(reply: ReaderReply): void {
    if (reply.kind === 'ready') return this.opened?.()
    if (reply.kind === 'closed') return this.closed?.()
    const waiting = this.waiting.get(reply.id)
    this.waiting.delete(reply.id)
    if (waiting?.share !== undefined) {
      this.sharedOut--
      this.askShared()
    }
    if (reply.kind === 'rows') waiting?.resolve(reply.results)
    else waiting?.reject(new Error(reply.message))
  }
}
