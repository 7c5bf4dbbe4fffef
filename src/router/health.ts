/**
 * The health of offers, learnt from attempts. It is pure: time is passed in. It decides when an offer rests, for every
 * routing policy alike. A request's own fault never counts, or a user with a bad prompt could rest a vendor's offer for
 * everybody. Faults of the gateway do not count either.
 */
import type { Offer } from '../domain/catalog.ts'
import { isRequestFault, RETRY_AFTER_MS_MAX, type UpstreamFailure } from '../domain/failure.ts'
import { limit } from '../lib/primitives/limit.ts'

export type OfferHealth = {
  readonly failuresInRow: number
  /** How often the offer has rested since its last success. Each rest is longer. */
  readonly rests: number
  /** The offer is not tried before this time, unless no other is left. */
  readonly restUntilMs: number
  /** Whether one request is trying the offer after its rest (half-open). Other requests use other offers meanwhile. */
  readonly isOnTrial: boolean
}

const FAILURES_UNTIL_REST = limit('offerFailuresMax', 5, 'After this many failures in a row, the offer rests.')
const REST_MS = limit('offerRestMs', 30_000, 'The first rest of an offer lasts this long. Each further one is longer.')
const REST_MS_MAX = RETRY_AFTER_MS_MAX
/** A wrong credential, an empty account or a missing model is not fixed in seconds. */
const FAULT_REST_MS = limit(
  'offerFaultRestMs',
  300_000,
  'An offer whose key, money or model is missing rests this long.',
)
const RATE_REST_MS = limit(
  'offerRateRestMs',
  5_000,
  'An offer that refuses because of its rate and names no time rests this long.',
)
/** How long the request that tries an offer has it alone, unless it ends earlier. */
const TRIAL_MS = limit('offerTrialMs', 30_000, 'If a trial of an offer takes longer, another request may try it.')

export const healthy: OfferHealth = { failuresInRow: 0, rests: 0, restUntilMs: 0, isOnTrial: false }

/** Whether a failure says something of the offer. */
export const isOfferFault = ({ kind, isDoubtful }: UpstreamFailure): boolean =>
  !isRequestFault(kind) && kind !== 'unread' && !isDoubtful

/** The health after a failed attempt. */
export function afterFailure(health: OfferHealth, failure: UpstreamFailure, nowMs: number): OfferHealth {
  if (!isOfferFault(failure)) return afterNothing(health, nowMs)
  const rest = (ms: number): OfferHealth => {
    const restUntilMs = Math.max(health.restUntilMs, nowMs + ms)
    return { ...health, restUntilMs, isOnTrial: false }
  }
  switch (failure.kind) {
    case 'auth':
    case 'funds':
    case 'model_gone':
      return rest(FAULT_REST_MS)
    case 'rate':
      return rest(Math.min(failure.retryAfterMs ?? RATE_REST_MS, REST_MS_MAX))
    default: {
      // An attempt that fails during a rest began before it, so it says nothing new.
      if (nowMs < health.restUntilMs && !health.isOnTrial) return health
      const failuresInRow = health.failuresInRow + 1
      if (failuresInRow < FAILURES_UNTIL_REST) return { ...health, failuresInRow }
      const rests = health.rests + 1
      // After a rest, one more failure makes the offer rest again. Only a success restores it fully.
      const restUntilMs = nowMs + Math.min(REST_MS * rests, REST_MS_MAX)
      return { ...health, failuresInRow: FAILURES_UNTIL_REST - 1, rests, restUntilMs, isOnTrial: false }
    }
  }
}

/** The health when an attempt begins. After a rest one request tries the offer, not all that arrive meanwhile. */
export const onTrial = (health: OfferHealth, nowMs: number): OfferHealth =>
  health.rests > 0 && nowMs >= health.restUntilMs
    ? { ...health, restUntilMs: nowMs + TRIAL_MS, isOnTrial: true }
    : health

/** The health after an attempt that says nothing of the offer. The next request tries it. */
export const afterNothing = (health: OfferHealth, nowMs: number): OfferHealth =>
  health.isOnTrial ? { ...health, restUntilMs: nowMs, isOnTrial: false } : health

type OfferedModels = { models(): readonly { readonly offers: readonly Pick<Offer, 'id' | 'providerId'>[] }[] }

/** The ids of all offers of a provider. */
export const offersOfProvider = (catalog: OfferedModels, providerId: string): readonly string[] =>
  catalog
    .models()
    .flatMap(({ offers }) => offers.flatMap((offer) => (offer.providerId === providerId ? [offer.id] : [])))

/** How many of a provider's offers are not tried at the moment. */
export function restingOffers(
  catalog: OfferedModels,
  { health, nowMs }: { readonly health: ReadonlyMap<string, OfferHealth>; readonly nowMs: number },
  providerId: string,
): number {
  return offersOfProvider(catalog, providerId).filter((id) => (health.get(id) ?? healthy).restUntilMs > nowMs).length
}
