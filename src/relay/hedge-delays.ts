/**
 * How long a hedged request waits before a second offer is asked: the time within which 95 % of the recent answers of
 * the model have begun ("The Tail at Scale", Dean and Barroso, 2013). Streams count to their first event, whole replies
 * to their end, each by themselves. This process learns it anew after a start.
 */
import { limit } from '../lib/primitives/limit.ts'

const SAMPLES_MIN = limit(
  'hedgeSamplesMin',
  20,
  'Before a model has answered this often since the start, its requests are not hedged.',
)
const SAMPLES_MAX = 200
/** The delay is computed anew after this many answers. */
const RENEWED_EVERY = 10
const DELAY_MS_MIN = limit('hedgeDelayMsMin', 50, 'A second offer is asked after this time at the earliest.')

/** The times of the last answers of one model, in milliseconds. */
class RecentTimes {
  delayMs: number | undefined
  private readonly times: number[] = []
  private count = 0

  add(tookMs: number): void {
    this.times[this.count++ % SAMPLES_MAX] = tookMs
    if (this.count < SAMPLES_MIN || this.count % RENEWED_EVERY !== 0) return
    const sorted = this.times.toSorted((a, b) => a - b)
    this.delayMs = Math.max(DELAY_MS_MIN, sorted[Math.ceil(sorted.length * 0.95) - 1] as number)
  }
}

export class HedgeDelays {
  private readonly whole = new Map<string, RecentTimes>()
  private readonly streams = new Map<string, RecentTimes>()

  /** The delay in milliseconds, or undefined if too little is known. */
  of(modelId: string, isWhole: boolean): number | undefined {
    return (isWhole ? this.whole : this.streams).get(modelId)?.delayMs
  }

  /**
   * Counts an attempt. One that was stopped because another was faster counts with the time until then. Without it the
   * delay would shrink with each hedge, because all slow answers would be missing.
   */
  took(modelId: string, isWhole: boolean, tookMs: number): void {
    const kind = isWhole ? this.whole : this.streams
    let times = kind.get(modelId)
    if (!times) kind.set(modelId, (times = new RecentTimes()))
    times.add(tookMs)
  }
}
