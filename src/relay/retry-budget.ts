import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { limit } from '../lib/primitives/limit.ts'

const retryBounds = {
  /** A retry for every fifth request, as in the budgets of Finagle and Envoy. */
  percentMax: limit('retriesPercentMax', 20, 'A further retry is not made, and the client gets the failure.'),
  /** Further retries, so that a gateway with few requests can always retry. */
  freePerSecond: limit('retriesFreePerSecond', 10, 'This many retries per second are allowed in addition.'),
}
/** The most retries that can be saved up. It is ten seconds of the free ones. */
const SAVED_MAX = 100

/**
 * The budget of second attempts. If every upstream fails, three attempts per request would triple the load on vendors
 * that are already down.
 */
export class RetryBudget {
  private readonly saved = new TokenBucket((SAVED_MAX / retryBounds.freePerSecond) * 1_000)

  /** Counts the first attempt of a request. */
  earn(): void {
    this.saved.give(SAVED_MAX, retryBounds.percentMax / 100)
  }

  /** Takes a retry from the budget. Returns whether there was one. `nowMs` never goes back. */
  spend(nowMs: number): boolean {
    return this.take(nowMs, 1)
  }

  /** The same for an attempt that is not needed yet. Half of the budget is left for requests that have failed. */
  spendSpare(nowMs: number): boolean {
    return this.take(nowMs, 1 + SAVED_MAX / 2)
  }

  private take(nowMs: number, least: number): boolean {
    if (this.saved.level(SAVED_MAX, nowMs) < least) return false
    this.saved.take(SAVED_MAX, nowMs, 1)
    return true
  }
}
