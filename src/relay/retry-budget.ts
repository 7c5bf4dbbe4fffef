import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { limit } from '../lib/primitives/limit.ts'

const retryBounds = {
  /** A second try for every fifth request, as Finagle and Envoy budget it. */
  percentMax: limit('retriesPercentMax', 20, 'A further retry is not made, and the client gets the failure.'),
  /** What is allowed besides, so that a quiet gateway may always try again. */
  freePerSecond: limit('retriesFreePerSecond', 10, 'This many retries per second are allowed in addition.'),
}
/** What can be saved up: ten seconds of the free ones. */
const SAVED_MAX = 100

/**
 * How many second tries there may be. When every upstream fails, trying each request three times would be three times
 * the load on vendors that are down already.
 */
export class RetryBudget {
  private readonly saved = new TokenBucket((SAVED_MAX / retryBounds.freePerSecond) * 1_000)

  /** A request has its first try. */
  earn(): void {
    this.saved.give(SAVED_MAX, retryBounds.percentMax / 100)
  }

  /** Whether another try is in the budget; it is taken from it if so. `nowMs` never goes back. */
  spend(nowMs: number): boolean {
    if (this.saved.level(SAVED_MAX, nowMs) < 1) return false
    this.saved.take(SAVED_MAX, nowMs, 1)
    return true
  }
}
