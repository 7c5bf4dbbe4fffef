import type { Offer } from '../../domain/catalog.ts'
import type { RoutingPolicy } from './policy.ts'

/** By priority, lowest first. Within a priority the order is drawn by weight. */
export const weighted: RoutingPolicy = {
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
