/**
 * A time limit that is pushed forward by progress. Progress is noted in a field, not by resetting a timer: a stream of
 * a thousand events costs one timer, re-armed when it fires early.
 */
export class Watchdog {
  private readonly onExpired: () => void
  private limitMs: number
  private lastMs = performance.now()
  private timer: Timer
  private resting = false

  constructor(limitMs: number, onExpired: () => void) {
    this.limitMs = limitMs
    this.onExpired = onExpired
    this.timer = setTimeout(() => this.check(), limitMs)
  }

  /** From now on nothing is expected: a reader that takes its time is not the upstream's silence. */
  rest(): void {
    this.resting = true
  }

  /** From now on `limitMs` of silence is allowed. */
  beat(limitMs: number): void {
    this.resting = false
    this.lastMs = performance.now()
    if (limitMs === this.limitMs) return
    this.limitMs = limitMs
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.check(), limitMs)
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  private check(): void {
    const leftMs = this.limitMs - (performance.now() - this.lastMs)
    if (this.resting) this.timer = setTimeout(() => this.check(), this.limitMs)
    else if (leftMs <= 1) this.onExpired()
    else this.timer = setTimeout(() => this.check(), leftMs)
  }
}
