import type { Statement, WriteOutcome, WriteStep } from './statement.ts'
import { encodeBatch, encodeTx } from './wire.ts'
import { WriteQueue, type DeferredWrite, type Lane, type OutcomeListener, type PendingWrite } from './write-queue.ts'
import type { WriterReply, WriterRequest } from './writer-worker.ts'

/** The serving thread's side of the writer of SQLite: a queue in front of a thread that has the connection. */
export class Writer {
  private readonly worker = new Worker(new URL('./writer-worker.ts', import.meta.url).href)
  private readonly queue: WriteQueue
  private readonly defined = new Set<number>()
  private control: ((reply: Exclude<WriterReply, 'written'>) => void) | undefined
  private readonly onFatal: (message: string) => void

  /** `onFatal` is called when a commit fails. Memory is then ahead of the disk, so the process must stop. */
  constructor(onFatal: (message: string) => void, deferMs: number) {
    this.onFatal = onFatal
    this.queue = new WriteQueue((batch) => this.send(batch), deferMs)
    this.worker.onmessage = ({ data }: MessageEvent<WriterReply>) => this.receive(data)
    this.worker.onerror = ({ message }) => onFatal(message)
  }

  open(path: string): Promise<void> {
    return this.command({ kind: 'open', path })
  }

  /** Waits until all queued transactions are written, then closes the database. */
  async close(): Promise<void> {
    await this.queue.close()
    await this.command({ kind: 'close' })
    this.worker.terminate()
  }

  get queued(): number {
    return this.queue.queued
  }

  get waitingMs(): number {
    return this.queue.waitingMs
  }

  write(steps: readonly WriteStep[], lane?: Lane): Promise<WriteOutcome> {
    return this.queue.write(steps, lane)
  }

  defer(stepsOf: () => readonly WriteStep[], heard: OutcomeListener): DeferredWrite {
    return this.queue.defer(stepsOf, heard)
  }

  private command(request: WriterRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      this.control = (reply) => (reply.kind === 'fatal' ? reject(new Error(reply.message)) : resolve())
      this.post(request)
    })
  }

  private post(request: WriterRequest): void {
    this.worker.postMessage(request)
  }

  private send(batch: readonly PendingWrite[]): void {
    const define: Statement[] = []
    for (const { steps } of batch) for (const { run } of steps) this.define(run, define)
    try {
      this.post(encodeBatch({ define, txs: batch.map(({ steps }) => encodeTx(steps)) }))
    } catch (error) {
      // The transactions are decided but cannot be written, so memory is ahead of the disk.
      this.onFatal(String(error))
    }
  }

  private define(made: Statement, unseen: Statement[]): void {
    if (this.defined.has(made.slot)) return
    this.defined.add(made.slot)
    unseen.push(made)
  }

  private receive(reply: WriterReply): void {
    if (reply === 'written') this.queue.ended()
    else if (reply.kind === 'outcomes') this.queue.ended(new Map(reply.refused))
    else {
      const answer = this.control
      this.control = undefined
      answer?.(reply)
      if (reply.kind === 'fatal' && (!answer || this.queue.isBusy)) this.onFatal(reply.message)
    }
  }
}
