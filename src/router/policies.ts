/**
 * Routing policies. A policy ranks the offers of a model that can serve a request now. plan.ts leaves out drained
 * providers and offers that are too small, and puts resting offers last: that is the same for every policy.
 */
import type { Model, Offer } from '../domain/catalog.ts'
import type { OfferSignals } from './health.ts'

/** What this process knows of an offer. */
export type SignalsOf = (offer: Offer) => OfferSignals

export type RoutingPolicy = {
  readonly name: string
  /** The candidates in the order in which they are tried. `random` draws a number in [0, 1) at each call. */
  readonly rank: (candidates: readonly Offer[], signals: SignalsOf, random: () => number) => readonly Offer[]
  /** For operators: why a candidate has its place, and how often it is the first. */
  readonly explain: (offer: Offer, candidates: readonly Offer[], signals: SignalsOf) => Placement
}

export type Placement = {
  /** The share of requests that try the offer first, in percent, with one decimal. */
  readonly sharePercent: number
  readonly reason: string
}

/** By priority, lowest first. Within a priority the order is drawn by weight. */
const weighted: RoutingPolicy = {
  name: 'weighted',
  rank(candidates, _signals, random) {
    // Exponential draws by rate. Sorting by them is a weighted shuffle.
    const draws = new Map(candidates.map((offer) => [offer.id, -Math.log(1 - random()) / offer.weight]))
    const draw = (offer: Offer): number => draws.get(offer.id) ?? 0
    return candidates.toSorted((a, b) => a.priority - b.priority || draw(a) - draw(b))
  },
  explain({ priority, weight }, candidates) {
    const lowest = Math.min(...candidates.map((other) => other.priority))
    if (priority !== lowest) {
      return { sharePercent: 0, reason: `priority ${priority}; tried after those before it have failed` }
    }
    const weights = candidates.reduce((sum, other) => (other.priority === lowest ? sum + other.weight : sum), 0)
    return {
      sharePercent: Math.round((weight * 1_000) / weights) / 10,
      reason: `priority ${priority}, the lowest; weight ${weight} of ${weights}`,
    }
  },
}

const policies = { weighted } as const satisfies Readonly<Record<string, RoutingPolicy>>

/** The policy of a model. No model names its own, because there is only one so far. */
export const policyOf = (_model: Pick<Model, 'limits'>): RoutingPolicy => policies.weighted
