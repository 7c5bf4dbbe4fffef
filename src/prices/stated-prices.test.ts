import { expect, test } from 'bun:test'
import { unitPrices } from '../domain/price.ts'
import { missingUnit, pricesFrom } from './stated-prices.ts'

const tier = { aboveInputTokens: 272_000, nanoPerMillion: unitPrices({ input: 5n, output: 22n, cachedInput: 1n }) }
const before = { units: unitPrices({ input: 30n, output: 150n, cachedInput: 3n }), tiers: [tier] }

test('unnamed prices stay: tiers, a separate cached price, and prices that follow another', () => {
  const { units, tiers } = pricesFrom({ input: 40n }, before)
  expect(tiers).toEqual([tier])
  expect(units).toEqual(unitPrices({ input: 40n, output: 150n, cachedInput: 3n }))
  expect(units.cacheWrite5m).toBe(40n)
})

test('null removes: a unit follows another, and tiers are gone', () => {
  const { units, tiers } = pricesFrom({ cached_input: null, above: null }, before)
  expect([units.inputCached, tiers]).toEqual([30n, []])
  expect(pricesFrom({ above: {} }, before).tiers).toEqual([])
})

test('named tiers replace the tiers before, and each is merged into the one of its length', () => {
  const above = { 500000: { input: 9n, output: 30n }, 272000: { output: 25n } }
  expect(pricesFrom({ above }, before).tiers).toEqual([
    { aboveInputTokens: 272_000, nanoPerMillion: unitPrices({ input: 5n, output: 25n, cachedInput: 1n }) },
    { aboveInputTokens: 500_000, nanoPerMillion: unitPrices({ input: 9n, output: 30n }) },
  ])
})

test('units stated as a whole keep the tiers', () => {
  expect(pricesFrom({ input: 1n, output: 2n }, { tiers: [tier] })).toEqual({
    units: unitPrices({ input: 1n, output: 2n }),
    tiers: [tier],
  })
})

test('a price by the piece replaces one by tokens, and the reverse, and a card with both keeps both', () => {
  const tokens = { units: unitPrices({ input: 5n, output: 40n }), tiers: [tier] }
  const pieces = { units: unitPrices({ input: 0n, output: 0n, each: { image: 4n } }), tiers: [] }
  const both = { units: unitPrices({ input: 0n, output: 7n, each: { upscale: 3n } }), tiers: [] }
  expect(pricesFrom({ each: { image: 4n } }, tokens)).toEqual(pieces)
  expect(pricesFrom({ input: 5n, output: 40n }, pieces).units).toEqual(tokens.units)
  expect(pricesFrom({ output: 8n }, both).units).toEqual(unitPrices({ input: 0n, output: 8n, each: { upscale: 3n } }))
  expect(pricesFrom({ output: 8n, each: null }, both).units).toEqual(unitPrices({ input: 0n, output: 8n }))
})

test('a unit without a price would be free', () => {
  const text = { kind: 'text', paintsInTurn: false } as const
  expect(missingUnit({ input: 1n }, text)).toEqual({ path: ['output'], unit: 'output' })
  expect(missingUnit({ input: 1n }, text, before)).toBeUndefined()
  expect(missingUnit({ output: null }, text, before)).toEqual({ path: ['output'], unit: 'output' })
  // With a price by the piece alone, tokens would be free.
  expect(missingUnit({ each: { image: 1n } }, text, before)).toEqual({ path: ['input'], unit: 'input' })
  expect(missingUnit({ above: { 9: { input: 1n } } }, text, before)?.path).toEqual(['above', '9', 'output'])
  expect(missingUnit({ above: { 272000: { input: 1n } } }, text, before)).toBeUndefined()
  const embedding = { kind: 'embedding', paintsInTurn: false } as const
  expect(missingUnit({ input: 1n }, embedding)).toBeUndefined()
  const image = { kind: 'image', paintsInTurn: false } as const
  expect(missingUnit({ each: { image: 1n } }, image)).toBeUndefined()
  expect(missingUnit({}, image)).toEqual({ path: ['input'], unit: 'input' })
  expect(missingUnit({ input: 1n }, { kind: 'image', paintsInTurn: true })?.unit).toBe('output')
  expect(missingUnit({ output: 1n }, { kind: 'video', paintsInTurn: false })).toBeUndefined()
})
