/** A second try for every fifth request, as Finagle and Envoy budget it. */
const RETRY_RATIO = 0.2
/** What is allowed besides, so that a quiet gateway may always try again. */
const FLOOR_PER_SECOND = 10
/** What can be saved up: ten seconds of the floor. */
const SAVED_MAX = 100

/**
 * How many second tries there may be. When every upstream fails, trying each request three times would be three times
 * the load on vendors that are down already.
 */
export class RetryBudget {
  private saved = SAVED_MAX
  private updatedMs: number | undefined

  /** A request has its first try. */
  earn(): void {
    this.saved = Math.min(this.saved + RETRY_RATIO, SAVED_MAX)
  }

  /** Whether another try is in the budget; it is taken from it if so. `nowMs` never goes back. */
  spend(nowMs: number): boolean {
    const passedMs = nowMs - (this.updatedMs ?? nowMs)
    this.updatedMs = nowMs
    this.saved = Math.min(this.saved + (passedMs * FLOOR_PER_SECOND) / 1000, SAVED_MAX)
    if (this.saved < 1) return false
    this.saved--
    return true
  }
}
