/**
 * What a routing policy is. A policy ranks the offers of a model that can serve a request now. plan.ts leaves out
 * drained providers and offers that are too small, and puts resting offers last: that is the same for every policy.
 */
import type { Offer } from '../../domain/catalog.ts'
import type { PolicyName } from '../../domain/routing.ts'
import type { OfferSignals } from '../health.ts'

/** What this process knows of an offer. */
export type SignalsOf = (offer: Offer) => OfferSignals

export type RoutingPolicy = {
  readonly name: PolicyName
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
