/** Explains which offers a request for a model would try at this moment, in which order and why. */
import { z } from 'zod'
import type { Model, Offer } from '../domain/catalog.ts'
import { healthy } from '../router/health.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { planAttempts } from '../router/plan.ts'
import { expectedCost } from '../router/policies/expected-cost.ts'
import { measuredTimes, usualRequest } from '../router/policies/expected-time.ts'
import { policyOf } from '../router/policies/policies.ts'
import type { Placement, RankingInput } from '../router/policies/policy.ts'
import { roughTextBytes } from '../router/signals.ts'
import { policyNames } from '../domain/routing.ts'
import type { AdminServices } from './operation.ts'

/** The request to explain. What is left out is that of a usual request. */
export const explainedRequest = {
  input_tokens: z.int().min(0).max(1e9).optional().meta({ description: 'its length; default: 1000' }),
  stream: z.boolean().optional().meta({ description: 'whether it is streamed; default: true' }),
  routing: z.enum(policyNames).optional().meta({ description: 'a policy other than that of the model' }),
}
type ExplainedRequest = z.infer<z.ZodObject<typeof explainedRequest>>

const measured = z.number().nullable()
export const stepShape = z.strictObject({
  provider: z.string(),
  model: z.string(),
  verdict: z.enum(['first', 'next', 'last_resort', 'skipped']),
  share_percent: z.number().meta({ description: 'the share of requests that would try it first' }),
  score: measured.meta({
    description: 'what the policy compares, lowest first: ms for latency, nano-USD for cost, a factor for balanced',
  }),
  first_event_ms: measured.meta({ description: 'the usual time to the first event, or to a whole reply' }),
  tokens_per_second: measured.meta({ description: 'the usual speed of a stream' }),
  failed_percent: z.number().meta({ description: 'the recent share of failed attempts' }),
  cost_nano_usd: z.string().meta({ description: 'what the request would cost there without a warm prompt cache' }),
  reason: z.string().meta({ description: 'in English' }),
})
export type ExplainedStep = z.infer<typeof stepShape>

export const isServing = ({ state }: Offer): boolean => state !== 'drained'

/** The offers in the order in which a request would try them now, each with the reason for its place. */
export function explainPlan(
  { health: healthNow, signals }: Pick<AdminServices, 'health' | 'signals'>,
  model: Model,
  { input_tokens: inputTokens, stream = true, routing }: ExplainedRequest,
): readonly ExplainedStep[] {
  const nowMs = steadyNowMs()
  const health = healthNow()
  const textBytes = inputTokens === undefined ? usualRequest.textBytes : roughTextBytes(inputTokens)
  // A fixed `random` puts the heavier of two offers of one priority first.
  const input = { nowMs, random: () => 0.5, signals, request: { ...usualRequest, textBytes, stream } }
  const restUntil = ({ id }: Offer): number => (health.get(id) ?? healthy).restUntilMs
  const isReady = (offer: Offer): boolean => isServing(offer) && restUntil(offer) <= nowMs
  const ready = model.offers.filter(isReady)
  const placements = policyOf(model, routing).explain(ready, input)
  const placementOf = (offer: Offer): Placement | undefined => placements[ready.indexOf(offer)]
  const shareOf = (offer: Offer): number => placementOf(offer)?.sharePercent ?? 0
  const order = planAttempts({ ...input, model, health, policy: routing }).toSorted(
    (a, b) => Number(isReady(b)) - Number(isReady(a)) || shareOf(b) - shareOf(a),
  )
  const steps = order.map((offer, at): ExplainedStep => {
    const placement = placementOf(offer)
    if (placement) {
      const { sharePercent, score = null, reason } = placement
      const verdict = at === 0 ? 'first' : 'next'
      return { ...factsOf(offer, input), verdict, share_percent: sharePercent, score: score && short(score), reason }
    }
    const until = new Date(restUntil(offer)).toISOString()
    const reason = `rests after failures until ${until}; tried only if no other offer is left`
    return { ...factsOf(offer, input), verdict: 'last_resort', share_percent: at === 0 ? 100 : 0, score: null, reason }
  })
  const skipped = model.offers
    .filter((offer) => !isServing(offer))
    .map((offer): ExplainedStep => {
      const reason = `the provider '${offer.providerId}' is drained`
      return { ...factsOf(offer, input), verdict: 'skipped', share_percent: 0, score: null, reason }
    })
  return [...steps, ...skipped]
}

const short = (value: number): number => Number(value.toPrecision(3))

/** What is known of an offer, whatever the policy compares. */
function factsOf(offer: Offer, input: RankingInput) {
  const { firstEventMs, tokenMs, failureShare } = measuredTimes(offer, input)
  return {
    provider: offer.providerId,
    model: offer.upstreamModel,
    first_event_ms: firstEventMs === undefined ? null : Math.round(firstEventMs),
    tokens_per_second: tokenMs === undefined ? null : short(1_000 / tokenMs),
    failed_percent: Math.round(failureShare * 100),
    cost_nano_usd: String(Math.round(expectedCost(offer, input))),
  }
}
