/** Decides which offers to try and in which order. It is pure: health, signals, time and chance are passed in. */
import type { Model, Offer } from '../domain/catalog.ts'
import type { PolicyName } from '../domain/routing.ts'
import type { RequestLength } from '../domain/usage.ts'
import { healthy, type OfferHealth } from './health.ts'
import { policyOf } from './policies/policies.ts'
import type { RankingInput } from './policies/policy.ts'

export type PlanInput = RankingInput & {
  /** Its offers, and its limits, which decide the policy. */
  readonly model: Pick<Model, 'offers' | 'limits'>
  readonly health: ReadonlyMap<string, OfferHealth>
  /** The approximate length of the request. If left out, it fits every offer. */
  readonly length?: RequestLength | undefined
  /** The policy that the request itself names. If left out, the model's own applies. */
  readonly policy?: PolicyName | undefined
}

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
 * The offers that are ready, as the model's policy ranks them (policies/). Resting offers come last, the soonest back
 * first: they are a last resort and not excluded, so that an outage of all never leaves nothing to try. Offers for
 * which the request may be too long come after those that it fits. Excluded are offers of a drained provider, and
 * those for which the request is certainly too long.
 */
export function planAttempts(input: PlanInput): readonly Offer[] {
  const { model, health, nowMs, length, policy } = input
  const { offers: all } = model
  const isOut = (offer: Offer): boolean => isDrained(offer) || (length !== undefined && isTooSmall(offer, length))
  const offers = all.some(isOut) ? all.filter((offer) => !isOut(offer)) : all
  if (offers.length < 2) return offers
  const restUntil = ({ id }: Offer): number => (health.get(id) ?? healthy).restUntilMs
  const ready = offers.filter((offer) => restUntil(offer) <= nowMs)
  const resting = offers.filter((offer) => restUntil(offer) > nowMs)
  resting.sort((a, b) => restUntil(a) - restUntil(b))
  const plan = [...policyOf(model, policy).rank(ready, input), ...resting]
  if (!length) return plan
  return [...plan.filter((offer) => !isTight(offer, length)), ...plan.filter((offer) => isTight(offer, length))]
}

const isDrained = ({ state }: Offer): boolean => state === 'drained'
