import type { ReadEmbeddings, Reading } from './reading.ts'
import type { ReadingReply, ReadingRequest } from './reading-worker.ts'

const IDLE_MS = 60_000

type Waiting = (read: ReadEmbeddings) => void

/** One reading at a time, in a thread that is started at the first need and let go after a minute without one. */
class LargeReadings {
  private worker: Worker | undefined
  private idle: Timer | undefined
  private next = 1
  private readonly waiting = new Map<number, Waiting>()

  read(reading: Reading): Promise<ReadEmbeddings> {
    clearTimeout(this.idle)
    const worker = (this.worker ??= this.start())
    return new Promise((resolve) => {
      const id = this.next++
      this.waiting.set(id, resolve)
      worker.postMessage({ id, reading } satisfies ReadingRequest)
    })
  }

  private start(): Worker {
    const worker = new Worker(new URL('./reading-worker.ts', import.meta.url).href)
    worker.unref()
    worker.onmessage = ({ data: { id, read } }: MessageEvent<ReadingReply>) => this.resolve(id, read)
    worker.onerror = ({ message }) => {
      this.worker = undefined
      for (const id of this.waiting.keys()) this.resolve(id, { kind: 'failed', failure: { kind: 'garbage', message } })
    }
    return worker
  }

  private resolve(id: number, read: ReadEmbeddings): void {
    this.waiting.get(id)?.(read)
    this.waiting.delete(id)
    if (this.waiting.size > 0 || !this.worker) return
    const { worker } = this
    this.idle = setTimeout(() => {
      this.worker = undefined
      worker.terminate()
    }, IDLE_MS).unref()
  }
}

export const largeReadings = new LargeReadings()
