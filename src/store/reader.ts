import { FairQueue } from '../lib/primitives/fair-queue.ts'
import type { Row, SqlValue } from './statement.ts'
import type { Query, ReaderReply, ReaderRequest, ThreadPriority } from './reader-worker.ts'

type PendingRead = {
  readonly queries: readonly Query[]
  readonly share: string | undefined
  readonly resolve: (results: readonly (readonly Row[])[]) => void
  readonly reject: (error: Error) => void
}

/** So many queries of shares are with the thread at once: what any other query has before it at most. */
const SHARED_MAX = 2

/** The serving thread's end of the reader. */
export class StoreReader {
  private readonly worker = new Worker(new URL('./reader-worker.ts', import.meta.url).href)
  private readonly waiting = new Map<number, PendingRead>()
  /** Those whose turn has not come. */
  private readonly shared = new FairQueue<PendingRead>()
  private sharedOut = 0
  private next = 1
  private opened: (() => void) | undefined
  private closed: (() => void) | undefined
  private closing: Promise<void> | undefined

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<ReaderReply>) => this.receive(data)
  }

  /** Opens a database that is there. */
  open(path: string, turn: ThreadPriority): Promise<void> {
    return new Promise((resolve) => {
      this.opened = resolve
      this.worker.postMessage({ kind: 'open', path, turn } satisfies ReaderRequest)
    })
  }

  /**
   * Runs a query. Integers come back as bigint. Rejects on an SQL error, which is a programmer's, and once closed. What
   * may be long is asked with a share: shares take turns, so that nobody who asks for much keeps others waiting, and
   * what is asked without one goes before.
   */
  async query(sql: string, bind: readonly SqlValue[] = [], share?: string): Promise<readonly Row[]> {
    const [rows = []] = await this.together([{ sql, bind }], share)
    return rows
  }

  /** Several queries of one state of the database: what is written meanwhile is in all of them or in none. */
  together(queries: readonly Query[], share?: string): Promise<readonly (readonly Row[])[]> {
    if (this.closing) return Promise.reject(new Error('the database is closed'))
    return new Promise((resolve, reject) => {
      const query = { queries, share, resolve, reject }
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
   * Answers what was asked, then closes the connection. A thread that is only terminated closes it at some later time,
   * and the last connection of a database locks it while it puts the log away: the next start would find it locked.
   * Safe to call again.
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
