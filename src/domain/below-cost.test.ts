import { expect, test } from 'bun:test'
import { lossesOf } from './below-cost.ts'
import { unitPrices, type PriceCard, type StatedPrices } from './price.ts'

const card = (stated: StatedPrices, above: Readonly<Record<number, StatedPrices>> = {}): PriceCard => ({
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices(stated),
  tiers: Object.entries(above).map(([tokens, tier]) => ({
    aboveInputTokens: Number(tokens),
    nanoPerMillion: unitPrices(tier),
  })),
})
const said = (...args: Parameters<typeof lossesOf>) =>
  lossesOf(...args).map(({ unit, aboveInputTokens, sale, cost }) => [unit, aboveInputTokens, sale, cost])

test('a price at cost or above is no loss', () => {
  const cost = card({ input: 10n, output: 40n, cachedInput: 1n }, { 200: { input: 20n, output: 60n } })
  expect(said('text', cost, cost)).toEqual([])
  expect(said('text', card({ input: 20n, output: 60n }), cost)).toEqual([])
})

test('every unit is checked, and a unit that follows another counts once', () => {
  const cost = card({ input: 10n, output: 40n, cacheWrite: 13n, reasoning: 50n })
  expect(said('text', card({ input: 9n, output: 40n }), cost)).toEqual([
    ['inputFresh', undefined, 9n, 10n],
    ['cacheWrite5m', undefined, 9n, 13n],
    ['outputReasoning', undefined, 40n, 50n],
  ])
  expect(said('text', card({ input: 9n, output: 40n }), card({ input: 10n, output: 40n }))).toEqual([
    ['inputFresh', undefined, 9n, 10n],
  ])
})

test('a cost tier without a sale tier, or before it, is a loss from its bound on', () => {
  const cost = card({ input: 10n, output: 40n }, { 200: { input: 20n, output: 60n } })
  expect(said('text', card({ input: 12n, output: 50n }), cost)).toEqual([
    ['inputFresh', 200, 12n, 20n],
    ['outputText', 200, 50n, 60n],
  ])
  const later = card({ input: 12n, output: 60n }, { 300: { input: 24n, output: 70n } })
  expect(said('text', later, cost)).toEqual([['inputFresh', 200, 12n, 20n]])
  const cheaper = card({ input: 30n, output: 90n }, { 100: { input: 5n, output: 90n } })
  expect(said('text', cheaper, cost)).toEqual([
    ['inputFresh', 100, 5n, 10n],
    ['inputFresh', 200, 5n, 20n],
  ])
})

test('a tier that begins one token later is no loss', () => {
  const cost = card({ input: 10n, output: 40n }, { 271999: { input: 20n, output: 60n } })
  expect(said('text', card({ input: 10n, output: 40n }, { 272000: { input: 20n, output: 60n } }), cost)).toEqual([])
})

test('an embedding model has no output units, and a text model no image units', () => {
  expect(said('embedding', card({ input: 1n, output: 0n }), card({ input: 1n, output: 9n }))).toEqual([])
  expect(said('text', card({ input: 1n, output: 1n }), card({ input: 1n, output: 1n, imageInput: 9n }))).toEqual([])
  expect(said('image', card({ input: 1n, output: 1n }), card({ input: 1n, output: 1n, imageOutput: 9n }))).toEqual([
    ['outputImage', undefined, 1n, 9n],
  ])
})

test('pieces are compared with pieces of their kind by the nearest name, and never with tokens', () => {
  const sale = card({ input: 0n, output: 0n, each: { 'second/720p': 10n, upscale: 1n } })
  const cost = card({ input: 0n, output: 0n, each: { second: 8n, 'second/720p/with-video': 12n, upscale: 2n } })
  expect(said('video', sale, cost)).toEqual([
    ['piece:upscale', undefined, 1_000_000n, 2_000_000n],
    ['piece:second/720p/with-video', undefined, 10_000_000n, 12_000_000n],
  ])
  expect(said('video', sale, card({ input: 0n, output: 7n }))).toEqual([])
  expect(said('video', card({ input: 0n, output: 7n }), cost)).toEqual([])
})
