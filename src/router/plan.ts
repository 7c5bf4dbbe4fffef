/** Decides which offers to try and in which order. It is pure: health, time and chance are passed in. */
import type { Offer } from '../domain/catalog.ts'
import { healthy, type OfferHealth } from './health.ts'

export type PlanInput = {
  readonly offers: readonly Offer[]
  readonly health: ReadonlyMap<string, OfferHealth>
  readonly nowMs: number
  /** A random number in [0, 1), drawn anew at each call. */
  readonly random: () => number
  /** The approximate length of the request. If left out, it fits every offer. */
  readonly length?: RequestLength | undefined
}

/** The approximate number of input tokens, and how many output tokens may come. */
export type RequestLength = { readonly inputTokens: number; readonly outputTokens: number }

/** Estimates have errors. A request within this margin is tried after all others, and the vendor may refuse it. */
const ESTIMATE_MARGIN = 1.2

/** Whether a request is certainly too long for an offer. */
const isTooSmall = ({ contextTokens = Number.POSITIVE_INFINITY }: Offer, { inputTokens }: RequestLength): boolean =>
  inputTokens > contextTokens * ESTIMATE_MARGIN

const isTight = (
  { contextTokens = Number.POSITIVE_INFINITY }: Offer,
  { inputTokens, outputTokens }: RequestLength,
): boolean => inputTokens + outputTokens > contextTokens

/**
 * Offers by priority, lowest first. Within a priority the order is drawn by weight. Resting offers come last, the
 * soonest back first: they are a last resort and not excluded, so that an outage of all never leaves nothing to try.
 * Offers for which the request may be too long come after those that it fits. Excluded are offers of a drained
 * provider, and those for which the request is certainly too long.
 */
export function planAttempts({ offers: all, health, nowMs, random, length }: PlanInput): readonly Offer[] {
  const isOut = (offer: Offer): boolean => isDrained(offer) || (length !== undefined && isTooSmall(offer, length))
  const offers = all.some(isOut) ? all.filter((offer) => !isOut(offer)) : all
  if (offers.length < 2) return offers
  const restUntil = (offer: Offer): number => (health.get(offer.id) ?? healthy).restUntilMs
  const ready = offers.filter((offer) => restUntil(offer) <= nowMs)
  const resting = offers.filter((offer) => restUntil(offer) > nowMs)
  // Exponential draws by rate. Sorting by them is a weighted shuffle.
  const draws = new Map(ready.map((offer) => [offer.id, -Math.log(1 - random()) / offer.weight]))
  const draw = (offer: Offer): number => draws.get(offer.id) ?? 0
  ready.sort((a, b) => a.priority - b.priority || draw(a) - draw(b))
  resting.sort((a, b) => restUntil(a) - restUntil(b))
  const plan = [...ready, ...resting]
  if (!length) return plan
  return [...plan.filter((offer) => !isTight(offer, length)), ...plan.filter((offer) => isTight(offer, length))]
}

const isDrained = ({ state }: Offer): boolean => state === 'drained'
