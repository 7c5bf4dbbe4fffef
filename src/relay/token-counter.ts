import type { CountReply, CountRequest } from './token-worker.ts'

const IDLE_MS = 60_000
/** Nobody's settlement waits longer for a count, whatever somebody else has to be counted. */
const TIMEOUT_MS = 3_000

type Waiting = { readonly texts: readonly string[]; readonly resolve: (counts: readonly number[]) => void }

/**
 * Estimates token counts where an upstream reported none: after a cut, a hang-up, or from a vendor that never does.
 * The worker is started at the first need and let go after a minute without one.
 */
export class TokenCounter {
  private worker: Worker | undefined
  private idle: Timer | undefined
  private next = 1
  /** In the order of their requests. One at a time is with the worker: each is a copy of its texts. */
  private readonly waiting = new Map<number, Waiting>()
  private asked = 0

  /** Counts each text. Never fails: should the worker die or take too long, four bytes count as a token. */
  count(texts: readonly string[]): Promise<readonly number[]> {
    return new Promise((resolve) => {
      const id = this.next++
      const timer = setTimeout(() => this.stop(), TIMEOUT_MS)
      this.waiting.set(id, {
        texts,
        resolve: (counts) => {
          clearTimeout(timer)
          resolve(counts)
        },
      })
      clearTimeout(this.idle)
      this.ask()
    })
  }

  /** Gives the worker the next texts, unless it is at some. */
  private ask(): void {
    if (this.waiting.has(this.asked)) return
    const [next] = this.waiting
    if (!next) return
    const [id, { texts }] = next
    this.asked = id
    this.start().postMessage({ id, texts } satisfies CountRequest)
  }

  /** Lets the worker go. Whoever waits for it gets the rough count. */
  stop(): void {
    clearTimeout(this.idle)
    this.worker?.terminate()
    this.worker = undefined
    for (const [id, { texts }] of this.waiting) this.resolve(id, texts.map(quarterOfBytes))
  }

  private start(): Worker {
    if (this.worker) return this.worker
    this.worker = new Worker(new URL('./token-worker.ts', import.meta.url).href)
    this.worker.onmessage = ({ data }: MessageEvent<CountReply>) => this.resolve(data.id, data.counts)
    this.worker.onerror = () => this.stop()
    return this.worker
  }

  private resolve(id: number, counts: readonly number[]): void {
    this.waiting.get(id)?.resolve(counts)
    this.waiting.delete(id)
    if (!this.worker) return
    if (this.waiting.size > 0) return this.ask()
    clearTimeout(this.idle)
    this.idle = setTimeout(() => this.stop(), IDLE_MS)
  }
}

const quarterOfBytes = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
