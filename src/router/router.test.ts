import { expect, test } from 'bun:test'
import type { Model, Offer } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { unitPrices } from '../domain/price.ts'
import { afterFailure, afterNothing, healthy, onTrial, type OfferHealth } from './health.ts'
import { planAttempts } from './plan.ts'
import { policyOf } from './policies/policies.ts'

const cost = { id: 1, effectiveFromMs: 0, nanoPerMillion: unitPrices({ input: 0n, output: 0n }) }
const offer = (id: string, priority = 0, weight = 1): Offer => ({
  id,
  modelId: 'm',
  providerId: 'p',
  upstreamModel: id,
  priority,
  weight,
  cost,
})
const model = (offers: readonly Offer[]): Pick<Model, 'offers' | 'limits'> => ({ offers, limits: defaultModelLimits })
const failure = (kind: UpstreamFailure['kind'], retryAfterMs?: number): UpstreamFailure => ({
  kind,
  message: '',
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})
const plan = (offers: Offer[], health: Record<string, OfferHealth> = {}, random = Math.random): string[] =>
  planAttempts({ model: model(offers), health: new Map(Object.entries(health)), nowMs: 1_000, random }).map(
    ({ id }) => id,
  )

test('a lower priority number comes first, whatever the weights', () => {
  for (let i = 0; i < 100; i++) expect(plan([offer('b', 1, 1_000), offer('a', 0, 1)])).toEqual(['a', 'b'])
})

test('within a priority, weights share the traffic', () => {
  let first = 0
  for (let i = 0; i < 20_000; i++) if (plan([offer('a', 0, 3), offer('b', 0, 1)])[0] === 'a') first++
  expect(first / 20_000).toBeCloseTo(0.75, 1)
})

test('a policy says why an offer has its place, and how often it is the first', () => {
  const offers = [offer('a', 0, 2), offer('b', 0, 1), offer('c', 1)]
  const { explain } = policyOf(model(offers))
  expect(explain(offers, { nowMs: 0, random: Math.random })).toEqual([
    { sharePercent: 66.7, score: undefined, reason: 'priority 0, the lowest; weight 2 of 3' },
    { sharePercent: 33.3, score: undefined, reason: 'priority 0, the lowest; weight 1 of 3' },
    { sharePercent: 0, score: undefined, reason: 'priority 1; tried after those before it have failed' },
  ])
})

test('a resting offer comes last, soonest back first, and is still there if nothing else is', () => {
  const resting = (restUntilMs: number): OfferHealth => ({ ...healthy, restUntilMs })
  expect(plan([offer('a'), offer('b', 1)], { a: resting(2_000) })).toEqual(['b', 'a'])
  expect(plan([offer('a'), offer('b', 1)], { a: resting(9_000), b: resting(2_000) })).toEqual(['b', 'a'])
  expect(plan([offer('a'), offer('b', 1)], { a: resting(999) })).toEqual(['a', 'b'])
})

test('a drained provider gets nothing, not even as a last resort', () => {
  const drained = { ...offer('a'), state: 'drained' } as const
  const order = (offers: Offer[]): string[] =>
    planAttempts({ model: model(offers), health: new Map(), nowMs: 0, random: Math.random }).map(({ id }) => id)
  expect(order([drained, offer('b')])).toEqual(['b'])
  expect(order([drained])).toEqual([])
})

test('a user’s bad request never counts against an offer', () => {
  for (const kind of ['bad_request', 'policy', 'context_length'] as const) {
    expect(afterFailure(healthy, failure(kind), 0)).toEqual(healthy)
  }
  expect(afterFailure(healthy, { ...failure('funds'), isDoubtful: true }, 0)).toEqual(healthy)
})

test('five failures in a row rest an offer, and each first failure after a rest does so for longer', () => {
  let health = healthy
  const fail = (nowMs: number): number => (health = afterFailure(health, failure('server'), nowMs)).restUntilMs
  for (let i = 0; i < 4; i++) expect(fail(0)).toBe(0)
  expect(fail(0)).toBe(30_000)
  // Attempts that began before the rest change nothing.
  for (let i = 0; i < 20; i++) expect(fail(29_999)).toBe(30_000)
  expect(fail(30_000)).toBe(90_000)
  expect(fail(90_000)).toBe(180_000)
})

test('after a rest one request tries an offer, and the others go elsewhere', () => {
  let health = healthy
  for (let i = 0; i < 5; i++) health = afterFailure(health, failure('server'), 0)
  expect(onTrial(health, 29_999)).toEqual(health)
  const tried = onTrial(health, 30_000)
  expect(tried.restUntilMs).toBe(60_000)
  // A second one at the same time does not prolong it.
  expect(onTrial(tried, 30_001)).toEqual(tried)
  // It fails, so the rest is longer. Another attempt that began earlier fails too and changes nothing.
  const failed = afterFailure(tried, failure('timeout'), 50_000)
  expect(failed.restUntilMs).toBe(110_000)
  expect(afterFailure(failed, failure('timeout'), 50_001)).toEqual(failed)
  // It is refused for its content, or its client leaves. That says nothing, and the next request tries at once.
  const over = { ...tried, restUntilMs: 40_000, isOnTrial: false }
  expect([afterFailure(tried, failure('policy'), 40_000), afterNothing(tried, 40_000)]).toEqual([over, over])
  expect(afterNothing(failed, 50_001)).toEqual(failed)
  // It hangs, so the next request tries.
  expect(onTrial(tried, 60_000).restUntilMs).toBe(90_000)
  // An offer that never rested, or only for its rate, is not on trial.
  const slowed = afterFailure(healthy, failure('rate', 1_000), 0)
  expect([onTrial(healthy, 5_000), onTrial(slowed, 5_000)]).toEqual([healthy, slowed])
})

test('a rate limit rests an offer as long as it says, a wrong credential for minutes', () => {
  expect(afterFailure(healthy, failure('rate', 7_000), 1_000).restUntilMs).toBe(8_000)
  expect(afterFailure(healthy, failure('rate'), 1_000).restUntilMs).toBe(6_000)
  expect(afterFailure(healthy, failure('rate', 10 ** 9), 0).restUntilMs).toBe(300_000)
  for (const kind of ['auth', 'funds', 'model_gone'] as const) {
    expect(afterFailure(healthy, failure(kind), 0).restUntilMs).toBe(300_000)
  }
})

test('an offer that is too small for a request is left out, and one that may be too small comes later', () => {
  const small = { ...offer('small', 0), contextTokens: 4_096 }
  const large = offer('large', 1)
  const planFor = (inputTokens: number, outputTokens = 0, offers = [small, large]): string[] =>
    planAttempts({
      model: model(offers),
      health: new Map(),
      nowMs: 0,
      random: () => 0.5,
      length: { inputTokens, outputTokens },
    }).map(({ id }) => id)
  expect(planFor(100)).toEqual(['small', 'large'])
  expect(planFor(4_000, 1_000)).toEqual(['large', 'small'])
  expect(planFor(4_500)).toEqual(['large', 'small'])
  expect(planFor(8_000)).toEqual(['large'])
  expect(planFor(8_000, 0, [small])).toEqual([])
  // With only one offer, the vendor decides whether the request fits.
  expect(planFor(4_000, 1_000, [small])).toEqual(['small'])
})
