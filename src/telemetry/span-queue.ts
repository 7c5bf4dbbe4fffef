/**
 * Collects spans and sends them in batches. It is bounded: while the collector is slow or gone, further spans are
 * dropped and counted. Nothing waits for it but the drain. It keeps text alone, because the collector of garbage would
 * walk records of thousands of requests again and again.
 */
import type { Log } from '../lib/runtime/log.ts'
import { Stop } from '../outbound/stop.ts'
import type { ExportResult, OtlpSender } from './otlp-sender.ts'
import type { SpanBatching } from './settings.ts'

/** The spans of one request as JSON, with commas between them. */
type SpanTexts = { readonly count: number; readonly text: string }

export type SpanQueueOptions = {
  readonly sender: Pick<OtlpSender, 'send'>
  readonly batching: SpanBatching
  /** The JSON before and after the spans of an export. */
  readonly around: readonly [string, string]
  readonly log: Log
}

const TRIES_MAX = 5
const FIRST_WAIT_MS = 1_000
const WAIT_MS_MAX = 30_000

export class SpanQueue {
  sent = 0
  dropped = 0
  private readonly options: SpanQueueOptions
  private waiting: SpanTexts[] = []
  private waitingCount = 0
  private timer: Timer | undefined
  private sending: Promise<void> | undefined
  private isFailing = false
  private isEnding = false
  private readonly ending = Promise.withResolvers<void>()
  /** The export under way, which the end of the drain stops. */
  private stop: Stop | undefined

  constructor(options: SpanQueueOptions) {
    this.options = options
  }

  /** Whether so many spans may wait. If not, they are lost and counted, and need not be written. */
  hasRoomFor(count: number): boolean {
    if (this.waitingCount + count <= this.options.batching.queueMax) return true
    this.dropped += count
    return false
  }

  add(spans: SpanTexts): void {
    if (!this.hasRoomFor(spans.count)) return
    const { batchMax, delayMs } = this.options.batching
    this.waiting.push(spans)
    this.waitingCount += spans.count
    if (this.sending) return
    if (this.waitingCount >= batchMax) this.begin()
    else this.timer ??= setTimeout(() => this.begin(), delayMs).unref()
  }

  /** Sends what waits, for at most `boundMs`. What is left then is dropped. */
  async end(boundMs: number): Promise<void> {
    this.isEnding = true
    this.ending.resolve()
    const timer = setTimeout(() => {
      this.dropped += this.waitingCount
      this.waiting = []
      this.waitingCount = 0
      this.stop?.stop()
    }, boundMs)
    while (this.sending || this.waiting.length > 0) {
      if (!this.sending) this.begin()
      await this.sending
    }
    clearTimeout(timer)
  }

  private begin(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.sending = this.sendAll()
      .catch((error: unknown) => this.options.log('error', 'telemetry.internal', { message: String(error) }))
      .finally(() => this.rest())
  }

  /** Spans that came while the last batch was sent are too few for another one, so they wait for more. */
  private rest(): void {
    this.sending = undefined
    if (this.waiting.length === 0) return
    this.timer ??= setTimeout(() => this.begin(), this.options.batching.delayMs).unref()
  }

  /** Sends one batch, and further ones as long as they are full, or all at the end. */
  private async sendAll(): Promise<void> {
    const { batchMax } = this.options.batching
    // The batch is not put together in the tick of the request that filled it.
    await new Promise(setImmediate)
    do {
      const batch = this.takeBatch()
      if (batch.length > 0) await this.deliver(batch)
    } while (this.waitingCount >= batchMax || (this.isEnding && this.waiting.length > 0))
  }

  /** Takes as many requests as fit into a batch. One that is larger than a batch goes alone. */
  private takeBatch(): SpanTexts[] {
    const { batchMax } = this.options.batching
    let [count, size] = [0, 0]
    for (const spans of this.waiting) {
      if (size > 0 && count + spans.count > batchMax) break
      count += spans.count
      size++
    }
    this.waitingCount -= count
    return this.waiting.splice(0, size)
  }

  private async deliver(batch: readonly SpanTexts[]): Promise<void> {
    const { sender, around } = this.options
    const count = batch.reduce((sum, spans) => sum + spans.count, 0)
    const body = `${around[0]}${batch.map(({ text }) => text).join(',')}${around[1]}`
    for (let tries = 1; ; tries++) {
      this.stop = new Stop()
      const result = await sender.send(body, this.stop)
      if (result.kind === 'taken') {
        const refused = Math.min(count, result.refused)
        this.sent += count - refused
        this.dropped += refused
        return this.works(refused)
      }
      this.fails(result)
      // A drain gives a collector that failed no second chance.
      if (result.kind === 'refused' || tries === TRIES_MAX || this.isEnding) break
      await this.pause(result.afterMs ?? FIRST_WAIT_MS * 2 ** (tries - 1))
    }
    this.dropped += count
  }

  /** Waits with a random part, so that processes that failed together do not return together. A drain ends it. */
  private async pause(waitMs: number): Promise<void> {
    const ms = Math.min(waitMs, WAIT_MS_MAX) * (0.75 + Math.random() / 2)
    let timer: Timer | undefined
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms).unref()))
    await Promise.race([over, this.ending.promise])
    clearTimeout(timer)
  }

  /** A failure is logged once, until an export is taken again. */
  private fails({ problem }: Exclude<ExportResult, { kind: 'taken' }>): void {
    if (this.isFailing) return
    this.isFailing = true
    this.options.log('warn', 'telemetry.failing', { signal: 'traces', problem })
  }

  private works(refused: number): void {
    const { log } = this.options
    if (refused > 0) log('warn', 'telemetry.refused', { signal: 'traces', refused })
    if (!this.isFailing) return
    this.isFailing = false
    log('info', 'telemetry.works', { signal: 'traces', dropped: this.dropped })
  }
}
