/** Which offers to try, in which order. Pure: health, time and chance are passed in. */
import type { Offer } from '../domain/catalog.ts'
import { healthy, type OfferHealth } from './health.ts'

export type PlanInput = {
  readonly offers: readonly Offer[]
  readonly health: ReadonlyMap<string, OfferHealth>
  readonly nowMs: number
  /** A number in [0, 1), drawn anew at each call. */
  readonly random: () => number
  /** About how long the request is. Left out: nobody is too small for it. */
  readonly length?: RequestLength | undefined
}

/** About how many tokens there are, and how many may come. */
export type RequestLength = { readonly inputTokens: number; readonly outputTokens: number }

/** Estimates err: what is longer by less is the vendor's to refuse, after all others. */
const ESTIMATE_MARGIN = 1.2

/** Whether a request is certainly longer than what an offer takes. */
const isTooSmall = ({ contextTokens = Number.POSITIVE_INFINITY }: Offer, { inputTokens }: RequestLength): boolean =>
  inputTokens > contextTokens * ESTIMATE_MARGIN

const isTight = (
  { contextTokens = Number.POSITIVE_INFINITY }: Offer,
  { inputTokens, outputTokens }: RequestLength,
): boolean => inputTokens + outputTokens > contextTokens

/**
 * Offers by priority, lowest first; within a priority in an order drawn by weight. Resting offers come last, soonest
 * back first: they are a last resort, not forbidden, so that a blanket outage never leaves nothing to try. Those that
 * the request may be too long for come after those that it fits. Forbidden are those of a drained provider, as somebody
 * said so, and those that the request is too long for.
 */
export function planAttempts({ offers: all, health, nowMs, random, length }: PlanInput): readonly Offer[] {
  const isOut = (offer: Offer): boolean => isDrained(offer) || (length !== undefined && isTooSmall(offer, length))
  const offers = all.some(isOut) ? all.filter((offer) => !isOut(offer)) : all
  if (offers.length < 2) return offers
  const restUntil = (offer: Offer): number => (health.get(offer.id) ?? healthy).restUntilMs
  const ready = offers.filter((offer) => restUntil(offer) <= nowMs)
  const resting = offers.filter((offer) => restUntil(offer) > nowMs)
  // Exponential draws by rate: sorting by them is a weighted shuffle.
  const draws = new Map(ready.map((offer) => [offer.id, -Math.log(1 - random()) / offer.weight]))
  const draw = (offer: Offer): number => draws.get(offer.id) ?? 0
  ready.sort((a, b) => a.priority - b.priority || draw(a) - draw(b))
  resting.sort((a, b) => restUntil(a) - restUntil(b))
  const plan = [...ready, ...resting]
  if (!length) return plan
  return [...plan.filter((offer) => !isTight(offer, length)), ...plan.filter((offer) => isTight(offer, length))]
}

const isDrained = ({ state }: Offer): boolean => state === 'drained'
