/**
 * What a routing policy is. A policy ranks the offers of a model that can serve a request now. plan.ts leaves out
 * drained providers and offers that are too small, and puts resting offers last: that is the same for every policy.
 */
import type { Offer } from '../../domain/catalog.ts'
import type { PolicyName } from '../../domain/routing.ts'
import { drawOf, offerHashOf, type ConversationKey, type WarmOffer } from '../conversations.ts'
import type { SignalBook } from '../signal-book.ts'
import type { RoutedRequest } from '../signals.ts'

/** What a policy may read besides the offers. */
export type RankingInput = {
  readonly nowMs: number
  /** A random number in [0, 1), drawn anew at each call. */
  readonly random: () => number
  readonly signals?: SignalBook | undefined
  /** If left out, policies assume a usual request. */
  readonly request?: RoutedRequest | undefined
  /** The conversation, if its requests keep to one offer. */
  readonly conversation?: ConversationKey | undefined
  /** The offer that served the conversation before. */
  readonly warm?: WarmOffer | undefined
}

export type RoutingPolicy = {
  readonly name: PolicyName
  /** The candidates in the order in which they are tried. */
  readonly rank: (candidates: readonly Offer[], input: RankingInput) => readonly Offer[]
  /** For operators: why a candidate has its place, and how often it is the first. The order is that of `candidates`. */
  readonly explain: (candidates: readonly Offer[], input: RankingInput) => readonly Placement[]
}

export type Placement = {
  /** The share of requests that try the offer first, in percent, with one decimal. */
  readonly sharePercent: number
  /** What the policy compares, lowest first, in the unit that the reason names. Undefined: it compares nothing. */
  readonly score: number | undefined
  readonly reason: string
}

/**
 * An exponential draw by the weight of the offer. The lowest draw wins as often as its weight says. Draws of a
 * conversation come from its hash, so they are the same at each request.
 */
export function drawByWeight(offer: Offer, { random, conversation }: RankingInput): number {
  const drawn = conversation ? drawOf(conversation, offer) : random()
  return -Math.log(1 - drawn) / offer.weight
}

/** Whether the offer served the conversation before. */
export const isWarm = (offer: Offer, { warm }: RankingInput): boolean =>
  warm !== undefined && warm.offerHash === offerHashOf(offer)
