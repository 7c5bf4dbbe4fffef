/** Limits failed tries by name, so that guessing takes time. Each name has a token bucket. */
import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { limit } from '../lib/primitives/limit.ts'

export type ThrottleRule = {
  /** The number of tries at once. */ readonly burst: number
  /** The time after which one more try is allowed. */ readonly refillMs: number
}

/** Limits tries by name, in this process or in all instances together. */
export type Throttle = {
  /**
   * Takes a try. Gives 0 if it is allowed, and otherwise how long to wait. After a success, the try must be given back.
   * A refused try changes nothing, so refusals neither gain nor cost tries.
   */
  take(name: string): number | Promise<number>
  giveBack(name: string): void | Promise<void>
}

/** The number of names that are remembered. */
export const NAMES_MAX = limit(
  'throttledNamesMax',
  10_000,
  'A new name waits while every known name has no tries left.',
)

/** A throttle of this process. */
export class MemoryThrottle implements Throttle {
  private readonly rule: ThrottleRule
  /** Buckets that are not full, in the order of their last allowed tries. */
  private readonly buckets = new Map<string, TokenBucket>()

  constructor(rule: ThrottleRule) {
    this.rule = rule
  }

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

  /** The number of remembered names. */
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
   * Forgets all full buckets. If there are none, forgets the fullest. Of equally full ones it forgets the one that was
   * unused longest.
   * Never forgets an empty bucket, because tries under many names would then give it another burst. Returns false if
   * all are empty.
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
