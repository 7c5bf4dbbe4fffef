import type { Row, SqlValue } from './statement.ts'
import type { ReaderReply, ReaderRequest } from './reader-worker.ts'

type Waiting = { readonly resolve: (rows: readonly Row[]) => void; readonly reject: (error: Error) => void }

/** The serving thread's end of the reader. */
export class Reader {
  private readonly worker = new Worker(new URL('./reader-worker.ts', import.meta.url).href)
  private readonly waiting = new Map<number, Waiting>()
  private next = 1
  private control: (() => void) | undefined

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<ReaderReply>) => this.receive(data)
  }

  /** Opens a database that is there. */
  open(path: string): Promise<void> {
    return this.command({ kind: 'open', path })
  }

  /** Runs a query. Integers come back as bigint. Rejects on an SQL error, which is a programmer's. */
  query(sql: string, bind: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      const id = this.next++
      this.waiting.set(id, { resolve, reject })
      this.worker.postMessage({ kind: 'query', id, sql, bind } satisfies ReaderRequest)
    })
  }

  /** Closes the file too: a thread that is only ended would keep it open for as long as the process lives. */
  async close(): Promise<void> {
    await this.command({ kind: 'close' })
    this.worker.terminate()
  }

  private command(request: ReaderRequest): Promise<void> {
    return new Promise((resolve) => {
      this.control = resolve
      this.worker.postMessage(request)
    })
  }

  private receive(reply: ReaderReply): void {
    if (reply.kind === 'ready') return this.control?.()
    const waiting = this.waiting.get(reply.id)
    this.waiting.delete(reply.id)
    if (reply.kind === 'rows') waiting?.resolve(reply.rows)
    else waiting?.reject(new Error(reply.message))
  }
}
