import type { Row, SqlValue } from './statement.ts'
import type { ReaderReply, ReaderRequest } from './reader-worker.ts'

type Waiting = { readonly resolve: (rows: readonly Row[]) => void; readonly reject: (error: Error) => void }

/** The serving thread's end of the reader. */
export class Reader {
  private readonly worker = new Worker(new URL('./reader-worker.ts', import.meta.url).href)
  private readonly waiting = new Map<number, Waiting>()
  private next = 1
  private opened: (() => void) | undefined
  private closed: (() => void) | undefined
  private closing: Promise<void> | undefined

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<ReaderReply>) => this.receive(data)
  }

  /** Opens a database that is there. */
  open(path: string): Promise<void> {
    return new Promise((resolve) => {
      this.opened = resolve
      this.worker.postMessage({ kind: 'open', path } satisfies ReaderRequest)
    })
  }

  /** Runs a query. Integers come back as bigint. Rejects on an SQL error, which is a programmer's, and once closed. */
  query(sql: string, bind: readonly SqlValue[] = []): Promise<readonly Row[]> {
    if (this.closing) return Promise.reject(new Error('the database is closed'))
    return new Promise((resolve, reject) => {
      const id = this.next++
      this.waiting.set(id, { resolve, reject })
      this.worker.postMessage({ kind: 'query', id, sql, bind } satisfies ReaderRequest)
    })
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
    if (reply.kind === 'rows') waiting?.resolve(reply.rows)
    else waiting?.reject(new Error(reply.message))
  }
}
