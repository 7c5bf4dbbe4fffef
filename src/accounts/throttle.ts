/** How often something may go wrong, by name: whoever guesses has to wait. A token bucket for each name. */
import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { limit } from '../lib/primitives/limit.ts'

export type ThrottleRule = {
  /** So many at once, */ readonly burst: number
  /** and then one in so long. */ readonly refillMs: number
}

/** Names remembered. */
export const NAMES_MAX = limit(
  'throttledNamesMax',
  10_000,
  'A new name waits while every known name has no tries left.',
)

export class Throttle {
  private readonly rule: ThrottleRule
  /** Of whom something is missing; in the order of the last tries that were let through. */
  private readonly buckets = new Map<string, TokenBucket>()

  constructor(rule: ThrottleRule) {
    this.rule = rule
  }

  /**
   * Takes a try; 0 when it may be made, else how long to wait. To be given back when it went well. One that is refused
   * leaves no trace: nobody gets more room, or loses any, by being refused.
   */
  take(name: string, nowMs = Date.now()): number {
    const { burst, refillMs } = this.rule
    const known = this.buckets.get(name)
    const waitMs = known?.waitMs(burst, nowMs, 1) ?? 0
    if (waitMs > 0) return waitMs
    if (!known && this.buckets.size >= NAMES_MAX && !this.makeRoom(nowMs)) return refillMs
    const bucket = known ?? new TokenBucket(burst * refillMs)
    bucket.take(burst, nowMs, 1)
    this.buckets.delete(name)
    this.buckets.set(name, bucket)
    return 0
  }

  /** Names that are remembered. */
  get size(): number {
    return this.buckets.size
  }

  giveBack(name: string, nowMs = Date.now()): void {
    const { burst } = this.rule
    const bucket = this.buckets.get(name)
    if (!bucket) return
    bucket.take(burst, nowMs, -1)
    if (bucket.level(burst, nowMs) === burst) this.buckets.delete(name)
  }

  /**
   * Forgets all that are full again, else the fullest, the longest silent first. Never one with nothing left: else
   * tries under many names would give it another burst. False when there are only such.
   */
  private makeRoom(nowMs: number): boolean {
    let fullest = { name: '', tokens: 0 }
    for (const [name, bucket] of this.buckets) {
      const tokens = bucket.level(this.rule.burst, nowMs)
      if (tokens === this.rule.burst) this.buckets.delete(name)
      else if (tokens > fullest.tokens) fullest = { name, tokens }
    }
    if (this.buckets.size < NAMES_MAX) return true
    return fullest.tokens >= 1 && this.buckets.delete(fullest.name)
  }
}
