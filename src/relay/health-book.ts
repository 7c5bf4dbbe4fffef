import type { UpstreamFailure } from '../domain/failure.ts'
import {
  afterFailure,
  afterNothing,
  afterResume,
  afterSuccess,
  healthy,
  onTrial,
  type AttemptTimes,
  type OfferHealth,
} from '../router/health.ts'

/** What this process has learned about its offers. A restart forgets it on purpose. */
export class HealthBook {
  private readonly offers = new Map<string, OfferHealth>()

  get all(): ReadonlyMap<string, OfferHealth> {
    return this.offers
  }

  isResting(offerId: string): boolean {
    const health = this.offers.get(offerId)
    return health !== undefined && health.restUntilMs > Date.now()
  }

  /** An attempt begins. */
  tried(offerId: string): void {
    const health = this.offers.get(offerId)
    if (health) this.offers.set(offerId, onTrial(health, Date.now()))
  }

  /** An attempt ended because of its client. */
  ended(offerId: string): void {
    const health = this.offers.get(offerId)
    if (health) this.offers.set(offerId, afterNothing(health, Date.now()))
  }

  /** A task goes on after its attempt, so it has no times. */
  succeeded(offerId: string, times?: AttemptTimes): void {
    const health = afterSuccess(this.offers.get(offerId) ?? healthy, times)
    if (health === healthy) this.offers.delete(offerId)
    else this.offers.set(offerId, health)
  }

  /** Ends rests, because the cause is mended or a test is wanted. Returns how many offers rested. */
  resume(offerIds: readonly string[]): number {
    const resting = offerIds.filter((id) => this.isResting(id)).length
    for (const id of offerIds) {
      const health = this.offers.get(id)
      if (health) this.offers.set(id, afterResume(health))
    }
    return resting
  }

  failed(offerId: string, failure: UpstreamFailure): void {
    this.offers.set(offerId, afterFailure(this.offers.get(offerId) ?? healthy, failure, Date.now()))
  }
}
