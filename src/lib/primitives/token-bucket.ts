import { MINUTE_MS } from './units.ts'

/**
 * A token bucket. It begins full and refills evenly, so a capacity of 60 a minute admits 60 at once and then one a
 * second. The level may be below zero, because use beyond the forecast is owed. The capacity is an argument of each
 * call, because limits change while buckets live. All calls must use the same clock for `nowMs`.
 */
export class TokenBucket {
  /** The time in which an empty bucket becomes full. */
  private readonly fillMs: number
  private filled = Number.POSITIVE_INFINITY
  private updatedMs = 0

  constructor(fillMs = MINUTE_MS) {
    this.fillMs = fillMs
  }

  /** A bucket of a minute that was last seen with this level. */
  static at(filled: number, updatedMs: number): TokenBucket {
    return Object.assign(new TokenBucket(), { filled, updatedMs })
  }

  level(capacity: number, nowMs: number): number {
    const refilled = this.filled + (Math.max(0, nowMs - this.updatedMs) * capacity) / this.fillMs
    this.filled = Math.min(capacity, refilled)
    this.updatedMs = nowMs
    return this.filled
  }

  /** Takes an amount. A negative amount gives back. */
  take(capacity: number, nowMs: number, amount: number): void {
    this.filled = Math.min(capacity, this.level(capacity, nowMs) - amount)
  }

  /** Gives an amount back without the time. */
  give(capacity: number, amount: number): void {
    this.filled = Math.min(capacity, this.filled + amount)
  }

  /** The time until an amount is available: 0 if it is, infinity if the capacity is smaller. */
  waitMs(capacity: number, nowMs: number, amount: number): number {
    const lacking = amount - this.level(capacity, nowMs)
    if (lacking <= 0) return 0
    return amount > capacity ? Number.POSITIVE_INFINITY : Math.ceil((lacking * this.fillMs) / capacity)
  }

  fullInMs(capacity: number, nowMs: number): number {
    return Math.ceil(((capacity - this.level(capacity, nowMs)) * this.fillMs) / capacity)
  }
}
