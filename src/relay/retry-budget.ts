export const retryBounds = {
  /** A second try for every fifth request, as Finagle and Envoy budget it. */
  percentMax: 20,
  /** What is allowed besides, so that a quiet gateway may always try again. */
  freePerSecond: 10,
}
/** What can be saved up: ten seconds of the free ones. */
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
    this.saved = Math.min(this.saved + retryBounds.percentMax / 100, SAVED_MAX)
  }

  /** Whether another try is in the budget; it is taken from it if so. `nowMs` never goes back. */
  spend(nowMs: number): boolean {
    const passedMs = nowMs - (this.updatedMs ?? nowMs)
    this.updatedMs = nowMs
    this.saved = Math.min(this.saved + (passedMs * retryBounds.freePerSecond) / 1000, SAVED_MAX)
    if (this.saved < 1) return false
    this.saved--
    return true
  }
}
