import type { Offer } from '../../domain/catalog.ts'
import { costReason, expectedCost } from './expected-cost.ts'
import { expectedTimes, timeReason } from './expected-time.ts'
import type { RankingInput } from './policy.ts'
import { scoredPolicy } from './scored.ts'

/** An offer counts as at least this part of the dearest. A free one would otherwise win however slow it is. */
const COST_MIN_SHARE = 0.05

/** Time and cost, each as a multiple of the best, and multiplied: twice as slow and half as dear is even. */
function scoresOf(offers: readonly Offer[], input: RankingInput): readonly number[] {
  const times = expectedTimes(offers, input)
  const costs = offers.map((offer) => expectedCost(offer, input))
  const costMin = COST_MIN_SHARE * Math.max(...costs) || 1
  const floored = costs.map((cost) => Math.max(cost, costMin))
  const [fastest, cheapest] = [Math.min(...times), Math.min(...floored)]
  return times.map((time, i) => (time / fastest) * ((floored[i] ?? cheapest) / cheapest))
}

/** The best compromise first. The score is a factor: the best possible offer has 1. */
export const balanced = scoredPolicy({
  name: 'balanced',
  scoresOf,
  reasonOf: (offer, input) => `${timeReason(offer, input)}; ${costReason(offer, input)}`,
  choices: 'all',
  equalUpTo: 1.1,
  keepsUpTo: 2,
  exploration: 0.05,
})
