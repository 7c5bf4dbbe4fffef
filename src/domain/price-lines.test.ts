import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { priceLines } from './price-lines.ts'
import { priceOf, unitPrices, type PriceCard } from './price.ts'
import { usageBuckets, type Usage } from './usage.ts'

const price = fc.bigInt(0n, 10n ** 12n)
const aCard: fc.Arbitrary<PriceCard> = fc.record({
  id: fc.constant(1),
  effectiveFromMs: fc.constant(0),
  nanoPerMillion: fc
    .record({ input: price, output: price, cachedInput: price, each: fc.record({ image: price, second: price }) })
    .map(unitPrices),
  tiers: fc.array(
    fc.record({
      aboveInputTokens: fc.nat({ max: 5_000 }),
      nanoPerMillion: fc.record({ input: price, output: price }).map(unitPrices),
    }),
    { maxLength: 1 },
  ),
})
const count = fc.nat({ max: 10_000 })
const aUsage: fc.Arbitrary<Usage> = fc.record({
  ...(Object.fromEntries(usageBuckets.map((bucket) => [bucket, count])) as Record<
    (typeof usageBuckets)[number],
    typeof count
  >),
  pieces: fc.array(
    fc.record({ unit: fc.constantFrom('piece:image/1024x1024' as const, 'piece:second' as const), count }),
  ),
})

test('the lines of a price and its rounding add up to the price, to a millionth of a nano-dollar', () => {
  fc.assert(
    fc.property(aUsage, aCard, (usage, card) => {
      const { lines, roundingMillionths, total } = priceLines(usage, card)
      const sum = lines.reduce((all, { amountMillionths }) => all + amountMillionths, 0n)
      expect(sum + roundingMillionths).toBe(priceOf(usage, card) * 1_000_000n)
      expect(total).toBe(priceOf(usage, card))
      expect(roundingMillionths >= 0n && roundingMillionths < 1_000_000n).toBe(true)
    }),
  )
})
