/** Sends the metrics at an interval. They are cumulative, so an export that failed is made good by the next one. */
import type { Log } from '../lib/runtime/log.ts'
import { Stop } from '../outbound/stop.ts'
import type { TimeRange } from './otlp-histogram.ts'
import type { OtlpSender } from './otlp-sender.ts'

export type MetricReaderOptions = {
  readonly sender: Pick<OtlpSender, 'send'>
  readonly intervalMs: number
  /** The JSON before and after the metrics of an export. */
  readonly around: readonly [string, string]
  /** The metrics that have values, as JSON. */
  readonly read: (range: TimeRange) => readonly string[]
  readonly log: Log
}

export class MetricReader {
  private readonly options: MetricReaderOptions
  private readonly startUnixMs = Date.now()
  private readonly timer: Timer
  private sending: Promise<void> | undefined
  private isFailing = false
  private stop: Stop | undefined

  constructor(options: MetricReaderOptions) {
    this.options = options
    this.timer = setInterval(() => this.begin(), options.intervalMs).unref()
  }

  /** Sends the metrics for the last time, for at most `boundMs`. */
  async end(boundMs: number): Promise<void> {
    clearInterval(this.timer)
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      this.stop?.stop()
    }, boundMs)
    await this.sending
    if (!isOver) this.begin()
    await this.sending
    clearTimeout(timer)
  }

  private begin(): void {
    // An export that is slower than the interval is not joined by another one.
    this.sending ??= this.send()
      .catch((error: unknown) => this.options.log('error', 'telemetry.internal', { message: String(error) }))
      .finally(() => (this.sending = undefined))
  }

  private async send(): Promise<void> {
    const { sender, around, read, log } = this.options
    const metrics = read({ startUnixMs: this.startUnixMs, nowUnixMs: Date.now() })
    if (metrics.length === 0) return
    this.stop = new Stop()
    const result = await sender.send(`${around[0]}${metrics.join(',')}${around[1]}`, this.stop)
    if (result.kind !== 'taken') {
      if (!this.isFailing) log('warn', 'telemetry.failing', { signal: 'metrics', problem: result.problem })
      this.isFailing = true
      return
    }
    if (result.refused > 0) log('warn', 'telemetry.refused', { signal: 'metrics', refused: result.refused })
    if (this.isFailing) log('info', 'telemetry.works', { signal: 'metrics' })
    this.isFailing = false
  }
}
