import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { priceLines } from './price-lines.ts'
import { priceOf, unitPrices, type PriceCard } from './price.ts'
import { FACTOR_MAX, formatFactor, parseFactor, scaledCard } from './price-factor.ts'
import type { Usage } from './usage.ts'

const card = (input: bigint, output: bigint, each: Record<string, bigint> = {}): PriceCard => ({
  id: 7,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices({ input, output, each }),
})
const none = { inputFresh: 0, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 0, outputReasoning: 0 }
const usage = (more: Partial<Usage>): Usage => ({ ...none, ...more })

test('a factor is read exactly, and anything else is not read', () => {
  expect(['0.9', '1.25', '1', '0.000001', '100', ' 0.10 '].map(parseFactor)).toEqual([
    900_000n,
    1_250_000n,
    1_000_000n,
    1n,
    FACTOR_MAX,
    100_000n,
  ])
  const bad = ['0', '0.0', '-1', '0.0000001', '100.000001', '1e3', '', '.9', '0.9x', 'NaN', 'Infinity', '1,5']
  expect(bad.map(parseFactor)).toEqual(bad.map(() => undefined))
})

test('a factor is written as it was read', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, FACTOR_MAX), (factor) => expect(parseFactor(formatFactor(factor))).toBe(factor)),
    { numRuns: 300 },
  )
})

test('0.9 of a price is charged to the nano-dollar, in every tier and for pieces', () => {
  const base: PriceCard = {
    ...card(2_500_000_000n, 10_000_000_000n, { image: 40_000_000n }),
    tiers: [{ aboveInputTokens: 1_000, nanoPerMillion: unitPrices({ input: 5_000_000_000n, output: 1n }) }],
  }
  const own = scaledCard(base, 900_000n)
  expect(own).toMatchObject({ id: 7, factor: 900_000n })
  expect(priceOf(usage({ inputFresh: 1_000 }), own)).toBe(2_250_000n)
  expect(priceOf(usage({ inputFresh: 1_001 }), own)).toBe(4_504_500n)
  expect(priceOf(usage({ outputText: 100 }), own)).toBe(900_000n)
  expect(priceOf(usage({ pieces: [{ unit: 'piece:image/1x1', count: 3 }] }), own)).toBe(108_000_000n)
  expect(base.nanoPerMillion.inputFresh).toBe(2_500_000_000n)
})

test('the factor 1 is the card itself', () => {
  const base = card(3n, 4n)
  expect(scaledCard(base, 1_000_000n)).toBe(base)
})

test('a price above zero never becomes zero, zero stays zero, and the error is below one unit of each price', () => {
  const price = fc.bigInt(0n, 10n ** 18n)
  fc.assert(
    fc.property(price, price, fc.bigInt(1n, FACTOR_MAX), (input, piece, factor) => {
      const base = card(input, 0n, { image: piece })
      const { nanoPerMillion } = scaledCard(base, factor)
      const exact = input * factor
      const got = nanoPerMillion.inputFresh
      if (factor !== 1_000_000n) expect(got * 1_000_000n - exact < 1_000_000n && got * 1_000_000n >= exact).toBe(true)
      expect(nanoPerMillion.outputText).toBe(0n)
      expect((nanoPerMillion['piece:image'] ?? 0n) > 0n).toBe(piece > 0n)
      expect((nanoPerMillion['piece:image'] ?? 0n) % 1_000_000n).toBe(0n)
    }),
    { numRuns: 300 },
  )
})

test('the lines of a receipt add up to the charge at a factor', () => {
  const own = scaledCard(card(75_000_001n, 3n), 333_333n)
  const used = usage({ inputFresh: 17, outputText: 5 })
  const { lines, roundingMillionths, total } = priceLines(used, own)
  const sum = lines.reduce((all, { amountMillionths }) => all + amountMillionths, 0n)
  expect(sum + roundingMillionths).toBe(total * 1_000_000n)
  expect(total).toBe(priceOf(used, own))
})
