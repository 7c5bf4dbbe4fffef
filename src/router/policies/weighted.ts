import type { Offer } from '../../domain/catalog.ts'
import { drawByWeight, isWarm, type RoutingPolicy } from './policy.ts'

/** By priority, lowest first. Within a priority the order is drawn by weight. */
export const weighted: RoutingPolicy = {
  name: 'weighted',
  rank(candidates, input) {
    // Exponential draws by rate. Sorting by them is a weighted shuffle.
    const draws = new Map(candidates.map((offer) => [offer.id, drawByWeight(offer, input)]))
    const draw = (offer: Offer): number => draws.get(offer.id) ?? 0
    const ranked = candidates.toSorted((a, b) => a.priority - b.priority || draw(a) - draw(b))
    if (!input.warm) return ranked
    const warm = ranked.find((offer) => isWarm(offer, input))
    // A priority is the operator's word, so a conversation does not stay at a fallback.
    if (!warm || warm.priority !== ranked[0]?.priority) return ranked
    return [warm, ...ranked.filter((offer) => offer !== warm)]
  },
  explain(candidates) {
    const lowest = Math.min(...candidates.map((other) => other.priority))
    const weights = candidates.reduce((sum, other) => (other.priority === lowest ? sum + other.weight : sum), 0)
    return candidates.map(({ priority, weight }) =>
      priority === lowest
        ? {
            sharePercent: Math.round((weight * 1_000) / weights) / 10,
            score: undefined,
            reason: `priority ${priority}, the lowest; weight ${weight} of ${weights}`,
          }
        : {
            sharePercent: 0,
            score: undefined,
            reason: `priority ${priority}; tried after those before it have failed`,
          },
    )
  },
}
