import { FairQueue } from '../lib/primitives/fair-queue.ts'
import type { CountReply, TokenCountRequest } from './token-worker.ts'
import { KIB, MINUTE_MS } from '../lib/primitives/units.ts'

const IDLE_MS = MINUTE_MS
/** A worker that does not answer for this long counts as stuck. */
const SILENCE_MS = 3_000

/** A longer text is counted in samples, so that no settlement waits for the megabytes of another. */
const CHARGED = { charsMax: 128 * KIB, place: (room: number) => Math.floor(Math.random() * (room + 1)) }
/** The same for free counts. Their samples have fixed places, so equal texts have equal counts. */
const GUESSED = { charsMax: 32 * KIB, place: (room: number) => room >> 1 }
const SAMPLES = 32

type Sampling = typeof CHARGED
type Job = {
  readonly texts: readonly string[]
  readonly sampling: Sampling
  readonly resolve: (counts: readonly number[]) => void
}

/**
 * Estimates token counts that no upstream reported: after a cut, after the client left, or from a vendor that never
 * reports. It also counts for clients that only request a count. The worker starts when first needed, and stops after a
 * minute without work.
 */
export class TokenCounter {
  private worker: Worker | undefined
  private idle: Timer | undefined
  private silence: Timer | undefined
  private serial = 0
  /** The job at the worker. There is one at a time, because each is a copy of its texts. */
  private current: Job | undefined
  /** Jobs by account, which take turns. Charges wait in the first queue, and free counts, which come later, behind. */
  private readonly charges = new FairQueue<Job>()
  private readonly guesses = new FairQueue<Job>()

  /** Counts each text, for a charge. Never fails. If the worker dies or hangs, four bytes count as a token. */
  count(texts: readonly string[], accountId: string): Promise<readonly number[]> {
    return this.add(this.charges, accountId, { texts, sampling: CHARGED })
  }

  /** Counts a text for free: after all charges, and from smaller samples. Never fails. */
  async guess(text: string, accountId: string): Promise<number> {
    const [count = 0] = await this.add(this.guesses, accountId, { texts: [text], sampling: GUESSED })
    return count
  }

  private add(queue: FairQueue<Job>, accountId: string, job: Omit<Job, 'resolve'>): Promise<readonly number[]> {
    return new Promise((resolve) => {
      queue.add(accountId, { ...job, resolve })
      clearTimeout(this.idle)
      this.ask()
    })
  }

  /** Sends the next texts to the worker if it is idle. */
  private ask(): void {
    if (this.current) return
    this.current = this.next()
    if (!this.current) return
    const { texts, sampling } = this.current
    this.silence = setTimeout(() => this.stop(), SILENCE_MS)
    const sampled = texts.map((text) => sampleOf(text, sampling))
    this.start().postMessage({ id: ++this.serial, texts: sampled } satisfies TokenCountRequest)
  }

  private next(): Job | undefined {
    const [, job] = this.charges.next() ?? this.guesses.next() ?? []
    return job
  }

  /** Stops the worker. Waiting jobs get the rough count. */
  stop(): void {
    clearTimeout(this.idle)
    clearTimeout(this.silence)
    this.worker?.terminate()
    this.worker = undefined
    for (let job = this.current ?? this.next(); job; job = this.next()) job.resolve(job.texts.map(quarterOfBytes))
    this.current = undefined
  }

  private start(): Worker {
    if (this.worker) return this.worker
    this.worker = new Worker(new URL('./token-worker.ts', import.meta.url).href)
    this.worker.onmessage = ({ data }: MessageEvent<CountReply>) => this.counted(data)
    this.worker.onerror = () => this.stop()
    return this.worker
  }

  private counted({ id, counts }: CountReply): void {
    // This is the answer of a stopped worker. Nobody waits for it any more.
    if (id !== this.serial || !this.current) return
    clearTimeout(this.silence)
    const { texts, sampling, resolve } = this.current
    this.current = undefined
    resolve(counts.map((count, i) => scaled(count, texts[i] ?? '', sampling)))
    this.ask()
    if (this.current) return
    clearTimeout(this.idle)
    this.idle = setTimeout(() => this.stop(), IDLE_MS)
  }
}

/** The part of a text that is counted: samples from all over it. For a charge, their places are unpredictable. */
function sampleOf(text: string, { charsMax, place }: Sampling): string {
  if (text.length <= charsMax) return text
  const [stride, chars] = [Math.floor(text.length / SAMPLES), charsMax / SAMPLES]
  return Array.from({ length: SAMPLES }, (_, i) => {
    const from = i * stride + place(stride - chars)
    return text.slice(from, from + chars)
  }).join('')
}

/** The count of a text, scaled up from its samples. */
const scaled = (count: number, { length }: string, { charsMax }: Sampling): number =>
  length <= charsMax ? count : Math.ceil((count * length) / charsMax)

const quarterOfBytes = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
