import type { CountReply, CountRequest } from './token-worker.ts'

const IDLE_MS = 60_000

/**
 * Estimates token counts where an upstream reported none: after a cut, a hang-up, or from a vendor that never does.
 * The worker is started at the first need and let go after a minute without one.
 */
export class TokenCounter {
  private worker: Worker | undefined
  private idle: Timer | undefined
  private next = 1
  private readonly waiting = new Map<
    number,
    { texts: readonly string[]; resolve: (counts: readonly number[]) => void }
  >()

  /** Counts each text. Never fails: should the worker die, four bytes count as a token. */
  count(texts: readonly string[]): Promise<readonly number[]> {
    return new Promise((resolve) => {
      const id = this.next++
      this.waiting.set(id, { texts, resolve })
      clearTimeout(this.idle)
      this.start().postMessage({ id, texts } satisfies CountRequest)
    })
  }

  stop(): void {
    clearTimeout(this.idle)
    this.worker?.terminate()
    this.worker = undefined
  }

  private start(): Worker {
    if (this.worker) return this.worker
    this.worker = new Worker(new URL('./token-worker.ts', import.meta.url).href)
    this.worker.onmessage = ({ data }: MessageEvent<CountReply>) => this.resolve(data.id, data.counts)
    this.worker.onerror = () => {
      this.stop()
      for (const [id, { texts }] of this.waiting) this.resolve(id, texts.map(quarterOfBytes))
    }
    return this.worker
  }

  private resolve(id: number, counts: readonly number[]): void {
    this.waiting.get(id)?.resolve(counts)
    this.waiting.delete(id)
    if (this.waiting.size === 0) this.idle = setTimeout(() => this.stop(), IDLE_MS)
  }
}

const quarterOfBytes = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
