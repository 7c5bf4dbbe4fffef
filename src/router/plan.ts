/** Which offers to try, in which order. Pure: health, time and chance are passed in. */
import type { Offer } from '../domain/catalog.ts'
import { healthy, type OfferHealth } from './health.ts'

export type PlanInput = {
  readonly offers: readonly Offer[]
  readonly health: ReadonlyMap<string, OfferHealth>
  readonly nowMs: number
  /** A number in [0, 1), drawn anew at each call. */
  readonly random: () => number
}

/**
 * Offers by priority, lowest first; within a priority in an order drawn by weight. Resting offers come last, soonest
 * back first: they are a last resort, not forbidden, so that a blanket outage never leaves nothing to try. Those of a
 * drained provider are forbidden: somebody said so.
 */
export function planAttempts({ offers: all, health, nowMs, random }: PlanInput): readonly Offer[] {
  const offers = all.some(isDrained) ? all.filter((offer) => !isDrained(offer)) : all
  if (offers.length < 2) return offers
  const restUntil = (offer: Offer): number => (health.get(offer.id) ?? healthy).restUntilMs
  const ready = offers.filter((offer) => restUntil(offer) <= nowMs)
  const resting = offers.filter((offer) => restUntil(offer) > nowMs)
  // Exponential draws by rate: sorting by them is a weighted shuffle.
  const draws = new Map(ready.map((offer) => [offer.id, -Math.log(1 - random()) / offer.weight]))
  const draw = (offer: Offer): number => draws.get(offer.id) ?? 0
  ready.sort((a, b) => a.priority - b.priority || draw(a) - draw(b))
  resting.sort((a, b) => restUntil(a) - restUntil(b))
  return [...ready, ...resting]
}

const isDrained = ({ state }: Offer): boolean => state === 'drained'
