/**
 * A time limit that is pushed forward by progress. Progress is noted in a field, not by resetting a timer: a stream of
 * a thousand events costs one timer, re-armed when it fires early.
 */
export class Watchdog {
  private readonly onExpired: () => void
  private limitMs: number
  private lastMs = performance.now()
  private timer: Timer

  constructor(limitMs: number, onExpired: () => void) {
    this.limitMs = limitMs
    this.onExpired = onExpired
    this.timer = setTimeout(() => this.check(), limitMs)
  }

  /** Notes progress; from now on `limitMs` of silence is allowed. */
  beat(limitMs: number): void {
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
    if (leftMs <= 1) this.onExpired()
    else this.timer = setTimeout(() => this.check(), leftMs)
  }
}
