import type { CountReply, CountRequest } from './token-worker.ts'

const IDLE_MS = 60_000
/** A worker that somebody waits for and that says nothing for so long is stuck. */
const SILENCE_MS = 3_000

/** A longer text is counted in samples: nobody's settlement waits for somebody else's megabytes. */
const COUNTED_CHARS_MAX = 128 * 1024
const SAMPLES = 32
const SAMPLE_CHARS = COUNTED_CHARS_MAX / SAMPLES

type Waiting = { readonly texts: readonly string[]; readonly resolve: (counts: readonly number[]) => void }

/**
 * Estimates token counts where an upstream reported none: after a cut, a hang-up, or from a vendor that never does.
 * The worker is started at the first need and let go after a minute without one.
 */
export class TokenCounter {
  private worker: Worker | undefined
  private idle: Timer | undefined
  private silence: Timer | undefined
  private next = 1
  private readonly waiting = new Map<number, Waiting>()

  /** Counts each text. Never fails: should the worker die or hang, four bytes count as a token. */
  count(texts: readonly string[]): Promise<readonly number[]> {
    return new Promise((resolve) => {
      const id = this.next++
      const samples = texts.map(sampleOf)
      const scaled = (counts: readonly number[]): number[] =>
        counts.map((count, i) => Math.ceil(count * scaleOf(texts[i] ?? '', samples[i] ?? '')))
      this.waiting.set(id, { texts, resolve: (counts) => resolve(scaled(counts)) })
      clearTimeout(this.idle)
      this.silence ??= setTimeout(() => this.stop(), SILENCE_MS)
      this.start().postMessage({ id, texts: samples } satisfies CountRequest)
    })
  }

  /** Lets the worker go. Whoever waits for it gets the rough count. */
  stop(): void {
    clearTimeout(this.idle)
    this.worker?.terminate()
    this.worker = undefined
    for (const [id, { texts }] of this.waiting)
      this.resolve(
        id,
        texts.map((text) => roughCount(sampleOf(text))),
      )
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
    clearTimeout(this.silence)
    this.silence = undefined
    if (!this.worker) return
    if (this.waiting.size > 0) this.silence = setTimeout(() => this.stop(), SILENCE_MS)
    else this.idle = setTimeout(() => this.stop(), IDLE_MS)
  }
}

/** As much of a text as is counted: samples from all over it, where nobody who wrote it can know. */
function sampleOf(text: string): string {
  if (text.length <= COUNTED_CHARS_MAX) return text
  const stride = Math.floor(text.length / SAMPLES)
  const room = stride - SAMPLE_CHARS
  return Array.from({ length: SAMPLES }, (_, i) => {
    const from = i * stride + Math.floor(Math.random() * (room + 1))
    return text.slice(from, from + SAMPLE_CHARS)
  }).join('')
}

const scaleOf = (text: string, sample: string): number => (sample === '' ? 1 : text.length / sample.length)

const roughCount = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
