import { expect, test } from 'bun:test'
import type { Offer } from '../domain/catalog.ts'
import { unitPrices } from '../domain/price.ts'
import { noProviderHints, sortOfVariant, withoutVariant, type ProviderHints } from '../domain/routing-hints.ts'
import { allowedOffers, askedPolicy, cheapestFirst, exceededPrice, isLosing, orderedPlan } from './hints.ts'

const card = (input: bigint, output: bigint) => ({
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices({ input, output }),
})
const offer = (providerId: string): Offer => ({
  id: providerId,
  modelId: 'm',
  providerId,
  upstreamModel: 'u',
  priority: 0,
  weight: 1,
  cost: card(0n, 0n),
})
const [a, b, c] = ['a', 'B', 'c'].map(offer) as [Offer, Offer, Offer]
const all = [a, b, c]
const hints = (some: Partial<ProviderHints>): ProviderHints => ({ ...noProviderHints, ...some })
const idsOf = (offers: readonly Offer[] | string): unknown =>
  typeof offers === 'string' ? offers : offers.map(({ id }) => id).join('')
const never = (): boolean => false
const judges = { isResting: never, isLoss: never }

test('only and ignore leave providers out, whatever case their ids have', () => {
  expect(idsOf(allowedOffers(all, hints({ only: ['b', 'c'] }), never))).toBe('Bc')
  expect(idsOf(allowedOffers(all, hints({ ignore: ['b'] }), never))).toBe('ac')
  expect(idsOf(allowedOffers(all, hints({ only: ['a', 'b'], ignore: ['a'] }), never))).toBe('B')
})

test('a hint that leaves no provider is named', () => {
  expect(allowedOffers(all, hints({ only: [] }), never)).toBe('only')
  expect(allowedOffers(all, hints({ only: ['a'], ignore: ['a'] }), never)).toBe('ignore')
  expect(allowedOffers(all, hints({ order: ['x'], allowsFallbacks: false }), never)).toBe('order')
  // A model without any offer is not the fault of a hint.
  expect(allowedOffers([], hints({ order: ['x'], allowsFallbacks: false }), never)).toEqual([])
})

test('order comes first, and the others follow unless fall-backs are off', () => {
  expect(idsOf(orderedPlan(all, hints({ order: ['c', 'b'] }), judges))).toBe('cBa')
  expect(idsOf(allowedOffers(all, hints({ order: ['c', 'b'], allowsFallbacks: false }), never))).toBe('Bc')
  expect(idsOf(orderedPlan(all, hints({ allowsFallbacks: false }), judges))).toBe('a')
  expect(idsOf(orderedPlan(all, noProviderHints, judges))).toBe('aBc')
})

test('a resting provider is the last resort, even if it is asked for first', () => {
  expect(idsOf(orderedPlan(all, hints({ order: ['c', 'b'] }), { ...judges, isResting: ({ id }) => id === 'c' }))).toBe(
    'Bac',
  )
})

test('a request cannot choose an offer that costs more than the account pays, unless all do', () => {
  const sale = card(1_000n, 2_000n)
  const model = { kind: 'text', sale } as const
  const [dear, even] = [
    { ...a, cost: card(1_001n, 0n) },
    { ...b, cost: sale },
  ]
  const isLoss = isLosing(model)
  expect([dear, even].map(isLoss)).toEqual([true, false])
  const cached = { ...sale.nanoPerMillion, inputCached: 5_000n }
  expect(isLoss({ ...even, cost: { ...sale, nanoPerMillion: cached } })).toBe(false)
  const both = [dear, even]
  expect(allowedOffers(both, hints({ only: ['a'] }), isLoss)).toBe('only')
  expect(allowedOffers(both, hints({ ignore: ['b'] }), isLoss)).toBe('ignore')
  expect(allowedOffers(both, hints({ order: ['a'], allowsFallbacks: false }), isLoss)).toBe('order')
  expect(idsOf(allowedOffers(both, hints({ only: ['a', 'b'] }), isLoss))).toBe('aB')
  for (const some of [{ order: ['a'] }, { allowsFallbacks: true }]) {
    expect(idsOf(orderedPlan(both, hints(some), { ...judges, isLoss }))).toBe('Ba')
  }
  expect(idsOf(orderedPlan(both, hints({}), { isResting: ({ id }) => id === 'B', isLoss }))).toBe('aB')
  expect(idsOf(allowedOffers([dear], hints({ only: ['a'] }), isLoss))).toBe('a')
  expect(idsOf(allowedOffers([dear, { ...even, state: 'drained' }], hints({ only: ['a'] }), isLoss))).toBe('a')
})

test('a sort or a suffix names the policy, and the sort wins', () => {
  expect(askedPolicy(hints({ sort: 'price' }), 'm:nitro')).toBe('cost')
  expect(askedPolicy(noProviderHints, 'm:nitro')).toBe('latency')
  expect(askedPolicy(noProviderHints, 'm:floor')).toBe('cost')
  expect(askedPolicy(noProviderHints, 'm:free')).toBeUndefined()
  expect([sortOfVariant('m'), withoutVariant('m'), withoutVariant('a/b:floor')]).toEqual([undefined, undefined, 'a/b'])
})

test('a price at the maximum is allowed, and one above it is not, in the dearest tier that the input can reach', () => {
  const most = { prompt: 1_000_000_000n, completion: 2_000_000_000n, image: undefined }
  const at = card(1_000_000_000n, 2_000_000_000n)
  expect(exceededPrice(at, most, 1_000)).toBeUndefined()
  expect(exceededPrice(card(1_000_000_001n, 0n), most, 1_000)).toBe('prompt')
  expect(exceededPrice(card(0n, 2_000_000_001n), most, 1_000)).toBe('completion')
  const tiered = { ...at, tiers: [{ aboveInputTokens: 500, nanoPerMillion: card(2_000_000_000n, 0n).nanoPerMillion }] }
  expect([exceededPrice(tiered, most, 500), exceededPrice(tiered, most, 501)]).toEqual([undefined, 'prompt'])
  const images = { ...at, nanoPerMillion: { ...at.nanoPerMillion, 'piece:image/1024x1024': 40_000_000_000_000n } }
  expect(exceededPrice(images, { ...most, image: 39_999_999n }, 0)).toBe('image')
  expect(exceededPrice(images, { ...most, image: 40_000_000n }, 0)).toBeUndefined()
})

test('models are sorted by what their clients pay', () => {
  const models = [card(3n, 3n), card(1n, 1n), card(1n, 1n)].map((sale, i) => ({ i, model: { sale } }))
  expect(cheapestFirst(models).map(({ i }) => i)).toEqual([1, 2, 0])
})
