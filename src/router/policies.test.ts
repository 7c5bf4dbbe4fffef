import { expect, test } from 'bun:test'
import type { Model, Offer } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import { unitPrices, type PriceTier } from '../domain/price.ts'
import type { PolicyName } from '../domain/routing.ts'
import { conversationKeyOf, offerHashOf, ServedConversations } from './conversations.ts'
import { healthy } from './health.ts'
import { planAttempts, type PlanInput } from './plan.ts'
import { policyOf } from './policies/policies.ts'
import { SignalBook } from './signal-book.ts'
import { OfferSignals, workClassOf } from './signals.ts'

const USD = 1_000_000_000n
type Shape = Partial<Pick<Offer, 'priority' | 'weight'>> & {
  readonly usd?: readonly [input: number, cached: number, output: number]
  readonly tiers?: readonly PriceTier[]
}
const nano = (usd: number): bigint => (USD * BigInt(Math.round(usd * 1_000))) / 1_000n
function offer(id: string, { priority = 0, weight = 1, usd = [1, 1, 1], tiers = [] }: Shape = {}): Offer {
  const [input, cachedInput, output] = usd.map(nano) as [bigint, bigint, bigint]
  const cost = { id: 1, effectiveFromMs: 0, nanoPerMillion: unitPrices({ input, cachedInput, output }), tiers }
  return { id, modelId: 'm', providerId: id, upstreamModel: id, priority, weight, cost }
}
const modelOf = (offers: readonly Offer[], routing: PolicyName): Pick<Model, 'offers' | 'limits'> => ({
  offers,
  limits: { ...defaultModelLimits, routing },
})
const request = { textBytes: 4_000, stream: true, choices: 1, outputTokensMax: undefined }
const work = workClassOf(request)

/** The share of requests that each offer gets first. */
function shares(offers: readonly Offer[], routing: PolicyName, more: Partial<PlanInput> = {}): Record<string, number> {
  const firsts: Record<string, number> = Object.fromEntries(offers.map(({ id }) => [id, 0]))
  const model = modelOf(offers, routing)
  const input = { model, request, health: new Map(), nowMs: 1_000, random: Math.random, ...more }
  for (let i = 0; i < 4_000; i++) {
    const first = planAttempts(input)[0]?.id ?? ''
    firsts[first] = (firsts[first] ?? 0) + 1
  }
  return Object.fromEntries(Object.entries(firsts).map(([id, count]) => [id, count / 4_000]))
}

/** Signals of offers that answered in these times, at 1,000 ms. */
function measured(times: Readonly<Record<string, number>>): SignalBook {
  const signals = new SignalBook()
  for (const [id, ms] of Object.entries(times)) signals.openOffer(id).measured(work, ms, 1_000)
  return signals
}

const three = [offer('a'), offer('b'), offer('c')]

test('latency: a slow offer gets only its share of exploration, and the others share the rest', () => {
  const got = shares(three, 'latency', { signals: measured({ a: 400, b: 420, c: 4_000 }) })
  expect(got['c']).toBeLessThan(0.01)
  expect(got['c']).toBeGreaterThan(0)
  expect(got['a']).toBeCloseTo(0.5, 1)
})

test('latency: an offer that was never measured, or long ago, gets requests', () => {
  expect(shares(three, 'latency', { signals: measured({ a: 400, b: 420 }) })['c']).toBeGreaterThan(0.2)
  const signals = measured({ a: 400, b: 420, c: 4_000 })
  const nowMs = 1_000 + 31 * 60_000
  for (const id of ['a', 'b']) signals.openOffer(id).measured(work, 400, nowMs)
  expect(shares(three, 'latency', { signals, nowMs })['c']).toBeGreaterThan(0.2)
})

test('latency: the speed counts, and so do failures', () => {
  const signals = measured({ a: 400, b: 300 })
  const two = [offer('a'), offer('b')]
  signals.openOffer('a').paced(work, { tokens: 100, tookMs: 1_000 }, 1_000)
  signals.openOffer('b').paced(work, { tokens: 100, tookMs: 10_000 }, 1_000)
  expect(shares(two, 'latency', { signals })['a']).toBeGreaterThan(0.9)
  for (let i = 0; i < 4; i++) signals.openOffer('a').failed(1_000)
  expect(shares(two, 'latency', { signals })['b']).toBeGreaterThan(0.9)
})

test('latency: an offer that hangs is left before any of its requests has failed', () => {
  const signals = measured({ a: 400, b: 400 })
  signals.openOffer('a').sent(work, 1_000)
  expect(shares([offer('a'), offer('b')], 'latency', { signals, nowMs: 1_100 })['a']).toBeCloseTo(0.5, 1)
  expect(shares([offer('a'), offer('b')], 'latency', { signals, nowMs: 3_000 })['a']).toBeLessThan(0.05)
  signals.openOffer('a').arrived(work, 3_000)
  expect(shares([offer('a'), offer('b')], 'latency', { signals, nowMs: 3_100 })['a']).toBeCloseTo(0.5, 1)
})

test('streams and whole replies, short and long requests are measured apart', () => {
  const signals = new OfferSignals()
  signals.measured(workClassOf({ textBytes: 100, stream: true }), 300, 0)
  signals.measured(workClassOf({ textBytes: 100, stream: false }), 9_000, 1)
  expect(signals.firstEventMs(workClassOf({ textBytes: 100, stream: false }), 1)).toBeCloseTo(9_000)
  expect(signals.firstEventMs(workClassOf({ textBytes: 100_000, stream: true }), 1)).toBeUndefined()
  const classes = [0, 4_096, 4_097, 32_769, 262_145].map((textBytes) => workClassOf({ textBytes, stream: true }))
  expect(classes).toEqual([0, 0, 2, 4, 6])
})

test('an old time counts for less than a new one, and a wait that was given up only raises it', () => {
  const signals = new OfferSignals()
  signals.measured(0, 4_000, 1_000)
  signals.measured(0, 400, 1_100)
  expect(signals.firstEventMs(0, 1_100)).toBeGreaterThan(3_000)
  signals.measured(0, 400, 301_000)
  expect(signals.firstEventMs(0, 301_000)).toBeLessThan(500)
  const before = signals.firstEventMs(0, 301_000)
  signals.gaveUp(0, 100, 301_000)
  expect(signals.firstEventMs(0, 301_000)).toBe(before)
  signals.gaveUp(0, 60_000, 301_000)
  expect(signals.firstEventMs(0, 301_000)).toBeGreaterThan(600)
})

test('a failure is forgotten with time, and a clock that jumps back does no harm', () => {
  const signals = new OfferSignals()
  for (let i = 0; i < 10; i++) signals.failed(100_000)
  expect(signals.failureShare(100_000)).toBeGreaterThan(0.6)
  expect(signals.failureShare(50_000)).toBeLessThanOrEqual(1)
  expect(signals.failureShare(400_000)).toBeLessThan(0.05)
  signals.sent(0, 100_000)
  expect(signals.silenceMs(0, 50_000)).toBe(0)
})

test('cost: the cheapest for the length of this request, by its tier', () => {
  const prices = unitPrices({ input: 9n * USD, output: USD })
  const steep = offer('steep', { usd: [0.5, 0.5, 1], tiers: [{ aboveInputTokens: 10_000, nanoPerMillion: prices }] })
  const plain = offer('plain')
  expect(shares([steep, plain], 'cost')).toEqual({ steep: 1, plain: 0 })
  expect(shares([steep, plain], 'cost', { request: { ...request, textBytes: 80_000 } })).toEqual({ steep: 0, plain: 1 })
})

test('cost: the output that the model usually has decides, unless the client limits it', () => {
  const talker = offer('talker', { usd: [0.1, 0.1, 9] })
  const reader = offer('reader', { usd: [2, 2, 1] })
  expect(shares([talker, reader], 'cost')).toEqual({ talker: 0, reader: 1 })
  const short = { ...request, outputTokensMax: 10 }
  expect(shares([talker, reader], 'cost', { request: short })).toEqual({ talker: 1, reader: 0 })
})

test('cost: a warm prompt cache makes a dearer offer the cheaper one', () => {
  const [dear, cheap] = [offer('dear', { usd: [2, 0.2, 1] }), offer('cheap', { usd: [1, 1, 1] })]
  const long = { ...request, textBytes: 40_000 }
  const warm = { offerHash: offerHashOf(dear), inputTokens: 9_000 }
  expect(shares([dear, cheap], 'cost', { request: long })['cheap']).toBe(1)
  expect(shares([dear, cheap], 'cost', { request: long, warm })['dear']).toBe(1)
})

test('cost: equal offers share by weight, free ones too, and one that fails comes later', () => {
  const free = [offer('a', { usd: [0, 0, 0], weight: 3 }), offer('b', { usd: [0, 0, 0] })]
  expect(shares(free, 'cost')['a']).toBeCloseTo(0.75, 1)
  const signals = new SignalBook()
  for (let i = 0; i < 4; i++) signals.openOffer('a').failed(1_000)
  expect(shares(free, 'cost', { signals })).toEqual({ a: 0, b: 1 })
})

test('balanced: neither the fastest at any price, nor the cheapest at any time', () => {
  const offers = [
    offer('fast', { usd: [20, 20, 20] }),
    offer('fair', { usd: [2, 2, 2] }),
    offer('free', { usd: [0, 0, 0] }),
  ]
  const got = shares(offers, 'balanced', { signals: measured({ fast: 300, fair: 500, free: 30_000 }) })
  expect(got['fair']).toBeGreaterThan(0.9)
})

test('a priority stands above every score', () => {
  const offers = [offer('slow'), offer('fast', { priority: 1, usd: [0, 0, 0] })]
  const signals = measured({ slow: 9_000, fast: 100 })
  for (const policy of ['latency', 'cost', 'balanced'] as const) {
    expect(shares(offers, policy, { signals })).toEqual({ slow: 1, fast: 0 })
  }
})

test('a request may name another policy than its model', () => {
  const offers = [offer('dear', { usd: [9, 9, 9] }), offer('cheap')]
  expect(shares(offers, 'weighted', { policy: 'cost' })).toEqual({ dear: 0, cheap: 1 })
})

const keys = Array.from({ length: 900 }, (_, i) => conversationKeyOf(['account', `conversation ${i}`]))
const homeOf = (offers: readonly Offer[], i: number, more: Partial<PlanInput> = {}): string | undefined => {
  const model = modelOf(offers, 'weighted')
  const input = { model, request, health: new Map(), nowMs: 1_000, random: Math.random, conversation: keys[i], ...more }
  return planAttempts(input)[0]?.id
}

test('conversations share the offers by weight, and each keeps its own', () => {
  const offers = [offer('a', { weight: 2 }), offer('b'), offer('c')]
  const homes = keys.map((_, i) => homeOf(offers, i))
  expect(keys.map((_, i) => homeOf(offers, i))).toEqual(homes)
  expect(homes.filter((home) => home === 'a').length / keys.length).toBeCloseTo(0.5, 1)
})

test('only the conversations of an offer that rests move, and they stay where they are warm', () => {
  const homes = keys.map((_, i) => homeOf(three, i))
  const health = new Map([['b', { ...healthy, restUntilMs: 9_000 }]])
  const during = keys.map((_, i) => homeOf(three, i, { health }))
  expect(during.filter((home, i) => home !== homes[i] && homes[i] !== 'b')).toEqual([])
  expect(during).not.toContain('b')
  const served = new ServedConversations()
  for (const [i, key] of keys.entries()) {
    const now = three.find(({ id }) => id === during[i])
    if (now) served.served(key, { offer: now, inputTokens: 2_000 }, 10_000)
  }
  const back = (nowMs: number) =>
    keys.map((key, i) => homeOf(three, i, { health, nowMs, warm: served.warm(key, nowMs) }))
  expect(back(20_000)).toEqual(during)
  // The caches are cold after five minutes, so the hash decides again, as it does in every instance.
  expect(back(400_000)).toEqual(homes)
})

test('a conversation leaves an offer that has become far slower, and not one that is a little slower', () => {
  const [a, b] = [offer('a'), offer('b')]
  const warm = { offerHash: offerHashOf(a), inputTokens: 2_000 }
  const conversation = keys[0]
  expect(shares([a, b], 'latency', { signals: measured({ a: 700, b: 400 }), warm, conversation })['a']).toBe(1)
  expect(shares([a, b], 'latency', { signals: measured({ a: 4_000, b: 400 }), warm, conversation })['a']).toBeLessThan(
    0.02,
  )
})

test('a conversation does not stay at a fallback', () => {
  const [main, fallback] = [offer('main'), offer('fallback', { priority: 1 })]
  const warm = { offerHash: offerHashOf(fallback), inputTokens: 2_000 }
  for (const policy of ['weighted', 'latency'] as const) {
    expect(shares([main, fallback], policy, { warm, conversation: keys[0] })['main']).toBe(1)
  }
})

test('the explanation has the scores, the shares as drawn, and says what it compares', () => {
  const signals = measured({ a: 400, c: 4_000 })
  const [a, b, c] = policyOf(modelOf(three, 'latency')).explain(three, {
    nowMs: 1_000,
    random: Math.random,
    signals,
    request,
  })
  expect(a).toMatchObject({ reason: 'priority 0; first event after 400 ms' })
  expect(a?.score).toBeCloseTo(400)
  expect(b?.reason).toBe('priority 0; no stream measured yet, so it counts as the fastest')
  expect(c?.sharePercent).toBeLessThan(1)
  expect((a?.sharePercent ?? 0) + (b?.sharePercent ?? 0) + (c?.sharePercent ?? 0)).toBeCloseTo(100, 0)
  const [dear] = policyOf(modelOf(three, 'cost')).explain([offer('a')], { nowMs: 0, random: Math.random })
  expect(dear?.reason).toBe('priority 0; costs about $0.0014 for 1000 input tokens and 400 output tokens')
})

test('so many offers are measured, and not more', () => {
  const signals = new SignalBook()
  for (let i = 0; i < 5_000; i++) signals.openOffer(`o${i}`)
  expect(signals.offer('o0')).toBeUndefined()
  expect(signals.offer('o4999')).toBeDefined()
})
