import { expect, test } from 'bun:test'
import type { Offer } from '../domain/catalog.ts'
import { unitPrices } from '../domain/price.ts'
import { noProviderHints, sortOfVariant, withoutVariant, type ProviderHints } from '../domain/routing-hints.ts'
import { allowedOffers, askedPolicy, cheapestFirst, exceededPrice, orderedPlan } from './hints.ts'

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

test('only and ignore leave providers out, whatever case their ids have', () => {
  expect(idsOf(allowedOffers(all, hints({ only: ['b', 'c'] })))).toBe('Bc')
  expect(idsOf(allowedOffers(all, hints({ ignore: ['b'] })))).toBe('ac')
  expect(idsOf(allowedOffers(all, hints({ only: ['a', 'b'], ignore: ['a'] })))).toBe('B')
})

test('a hint that leaves no provider is named', () => {
  expect(allowedOffers(all, hints({ only: [] }))).toBe('only')
  expect(allowedOffers(all, hints({ only: ['a'], ignore: ['a'] }))).toBe('ignore')
  expect(allowedOffers(all, hints({ order: ['x'], allowsFallbacks: false }))).toBe('order')
  // A model without any offer is not the fault of a hint.
  expect(allowedOffers([], hints({ order: ['x'], allowsFallbacks: false }))).toEqual([])
})

test('order comes first, and the others follow unless fall-backs are off', () => {
  expect(idsOf(orderedPlan(all, hints({ order: ['c', 'b'] }), never))).toBe('cBa')
  expect(idsOf(allowedOffers(all, hints({ order: ['c', 'b'], allowsFallbacks: false })))).toBe('Bc')
  expect(idsOf(orderedPlan(all, hints({ allowsFallbacks: false }), never))).toBe('a')
  expect(idsOf(orderedPlan(all, noProviderHints, never))).toBe('aBc')
})

test('a resting provider is the last resort, even if it is asked for first', () => {
  expect(idsOf(orderedPlan(all, hints({ order: ['c', 'b'] }), ({ id }) => id === 'c'))).toBe('Bac')
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
