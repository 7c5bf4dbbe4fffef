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
  /** In the order of their requests. One at a time is with the worker: each is a copy of its texts. */
  private readonly waiting = new Map<number, Waiting>()
  private asked = 0

  /** Counts each text. Never fails: should the worker die or hang, four bytes count as a token. */
  count(texts: readonly string[]): Promise<readonly number[]> {
    return new Promise((resolve) => {
      this.waiting.set(this.next++, { texts, resolve })
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
    this.silence = setTimeout(() => this.stop(), SILENCE_MS)
    this.start().postMessage({ id, texts: texts.map(sampleOf) } satisfies CountRequest)
  }

  /** Lets the worker go. Whoever waits for it gets the rough count. */
  stop(): void {
    clearTimeout(this.idle)
    clearTimeout(this.silence)
    this.worker?.terminate()
    this.worker = undefined
    for (const { texts, resolve } of this.waiting.values()) resolve(texts.map(quarterOfBytes))
    this.waiting.clear()
  }

  private start(): Worker {
    if (this.worker) return this.worker
    this.worker = new Worker(new URL('./token-worker.ts', import.meta.url).href)
    this.worker.onmessage = ({ data }: MessageEvent<CountReply>) => this.counted(data)
    this.worker.onerror = () => this.stop()
    return this.worker
  }

  private counted({ id, counts }: CountReply): void {
    clearTimeout(this.silence)
    const { texts = [], resolve } = this.waiting.get(id) ?? {}
    this.waiting.delete(id)
    resolve?.(counts.map((count, i) => scaled(count, texts[i] ?? '')))
    if (this.waiting.size > 0) return this.ask()
    clearTimeout(this.idle)
    this.idle = setTimeout(() => this.stop(), IDLE_MS)
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

/** The count of a text by that of its samples. */
const scaled = (count: number, { length }: string): number =>
  length <= COUNTED_CHARS_MAX ? count : Math.ceil((count * length) / COUNTED_CHARS_MAX)

const quarterOfBytes = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
