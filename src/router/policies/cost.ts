import { costReason, expectedCost } from './expected-cost.ts'
import { scoredPolicy } from './scored.ts'

/**
 * The cheapest first: by what this request will cost the operator there, cached input included. The score is in
 * nano-USD. Nothing is measured, so nothing is explored.
 */
export const cost = scoredPolicy({
  name: 'cost',
  // A free offer costs one nano-USD here, so that factors can be compared.
  scoresOf: (offers, input) => offers.map((offer) => 1 + expectedCost(offer, input)),
  reasonOf: costReason,
  choices: 'all',
  equalUpTo: 1.01,
  // The warm cache is in the price already.
  keepsUpTo: 1.01,
  exploration: 0,
})
