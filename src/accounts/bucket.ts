const MINUTE_MS = 60_000

/**
 * A token bucket of one minute: it begins full and refills evenly, so that a limit of 60 lets 60 through at once and
 * then one a second. What was used beyond the forecast is owed: the level may be below zero.
 */
export class Bucket {
  private filled = Number.POSITIVE_INFINITY
  private updatedMs = 0

  /** What is there. The limit is given each time, since it can change meanwhile. */
  level(perMinute: number, nowMs: number): number {
    const refilled = this.filled + (Math.max(0, nowMs - this.updatedMs) * perMinute) / MINUTE_MS
    this.filled = Math.min(perMinute, refilled)
    this.updatedMs = nowMs
    return this.filled
  }

  /** Takes an amount; a negative one is given back. */
  take(perMinute: number, nowMs: number, amount: number): void {
    this.filled = Math.min(perMinute, this.level(perMinute, nowMs) - amount)
  }

  /** How long until an amount is there: 0 when it is, infinity when it never will be. */
  waitMs(perMinute: number, nowMs: number, amount: number): number {
    const lacking = amount - this.level(perMinute, nowMs)
    if (lacking <= 0) return 0
    return amount > perMinute ? Number.POSITIVE_INFINITY : Math.ceil((lacking * MINUTE_MS) / perMinute)
  }

  fullInMs(perMinute: number, nowMs: number): number {
    return Math.ceil(((perMinute - this.level(perMinute, nowMs)) * MINUTE_MS) / perMinute)
  }
}
