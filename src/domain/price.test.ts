import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dearestInput, dearestOutput, priceOf, unitPrices } from './price.ts'
import { usageBuckets, type PieceUnit, type Usage } from './usage.ts'

const card = {
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices({ input: 1_250_000_000n, output: 10_000_000_000n, cachedInput: 125_000_000n }),
}
const nothing = { inputFresh: 0, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 0, outputReasoning: 0 }

test('each bucket has its own price, and the sum is rounded up once', () => {
  // 1,204 × $1.25/M + 18,000 × $0.125/M + 37 × $10/M = $0.004125
  expect(priceOf({ ...nothing, inputFresh: 1_204, inputCached: 18_000, outputText: 37 }, card)).toBe(4_125_000n)
  const cheap = { ...card, nanoPerMillion: unitPrices({ input: 1n, output: 1n }) }
  expect(priceOf({ ...nothing, inputFresh: 1, outputText: 1 }, cheap)).toBe(1n)
})

test('a price is exact for numbers of any size', () => {
  // Around the edge of the safe integers, and everywhere below.
  const edge = fc.integer({ min: -3, max: 3 }).map((by) => 2n ** 53n + BigInt(by))
  const price = fc.oneof(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 2n ** 62n), edge, fc.constantFrom(0n, 1n, 999_999n))
  const units = fc.oneof(fc.nat(3), fc.nat(1_000_000_000), fc.constant(Number.MAX_SAFE_INTEGER))
  const each = (value: fc.Arbitrary<bigint | number>) => fc.tuple(...usageBuckets.map(() => value))
  fc.assert(
    fc.property(each(price), each(units), fc.option(fc.tuple(fc.nat(9), price)), (prices, counts, piece) => {
      const named = <T>(values: readonly unknown[]): T =>
        Object.fromEntries(usageBuckets.map((bucket, i) => [bucket, values[i]])) as T
      const unit: PieceUnit = 'piece:image'
      const pieces = piece ? { pieces: [{ unit, count: piece[0] }] } : {}
      const priced = {
        ...card,
        nanoPerMillion: { ...named<typeof card.nanoPerMillion>(prices), [unit]: piece?.[1] ?? 0n },
      }
      let exact = piece ? BigInt(piece[0]) * piece[1] : 0n
      counts.forEach((count, i) => (exact += BigInt(count) * BigInt(prices[i] ?? 0)))
      const rounded = exact / 1_000_000n + (exact % 1_000_000n > 0n ? 1n : 0n)
      expect(priceOf({ ...named<Usage>(counts), ...pieces }, priced)).toBe(rounded)
    }),
    { numRuns: 2_000 },
  )
})

test('no usage costs nothing', () => expect(priceOf(nothing, card)).toBe(0n))

test('a quote assumes the most expensive input bucket', () => {
  expect(dearestInput({ ...card, nanoPerMillion: unitPrices({ input: 1n, output: 1n, cacheWrite: 5n }) }, 1)).toBe(5n)
})

test('pieces and image tokens have prices of their own', () => {
  const prices = unitPrices({
    input: 5_000_000_000n,
    output: 0n,
    imageOutput: 40_000_000_000n,
    each: { 'image/hd': 80_000_000n },
  })
  const priced = { id: 1, effectiveFromMs: 0, nanoPerMillion: prices }
  const usage = {
    ...nothing,
    inputFresh: 100,
    outputImage: 10,
    pieces: [{ unit: 'piece:image/hd', count: 3 }],
  } as const
  expect(priceOf(usage, priced)).toBe(100n * 5_000n + 10n * 40_000n + 3n * 80_000_000n)
})

test('a piece has the price of its name, of the nearest parent, or the highest of its kind', () => {
  const each = { image: 10n, 'image/1024x1024': 20n, 'image/1024x1024/hd': 40n }
  const of = (unit: `piece:${string}`, stated: Record<string, bigint> = each): bigint => {
    const nanoPerMillion = unitPrices({ input: 0n, output: 0n, each: stated })
    return priceOf({ ...nothing, pieces: [{ unit, count: 1 }] }, { id: 1, effectiveFromMs: 0, nanoPerMillion })
  }
  expect(of('piece:image/1024x1024/hd')).toBe(40n)
  expect(of('piece:image/1024x1024/standard')).toBe(20n)
  expect(of('piece:image/512x512/standard')).toBe(10n)
  expect(of('piece:image/512x512', { 'image/1024x1024': 20n, 'image/256x256': 5n })).toBe(20n)
  expect(of('piece:image/512x512', { 'second/720p': 20n })).toBe(0n)
})

/** Claude Sonnet 4.5 as listed: $3, $0.30 cached, $3.75 and $6 written, $15 out; twice and 1.5 times above 200,000. */
const long = {
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices({
    input: 3_000_000_000n,
    output: 15_000_000_000n,
    cachedInput: 300_000_000n,
    cacheWrite: 3_750_000_000n,
    cacheWrite1h: 6_000_000_000n,
  }),
  tiers: [
    {
      aboveInputTokens: 200_000,
      nanoPerMillion: unitPrices({
        input: 6_000_000_000n,
        output: 22_500_000_000n,
        cachedInput: 600_000_000n,
        cacheWrite: 7_500_000_000n,
        cacheWrite1h: 12_000_000_000n,
      }),
    },
  ],
}

test('the whole input, cached parts included, chooses a tier, which prices the whole request', () => {
  const usage = { ...nothing, inputFresh: 1_000, inputCached: 150_000, cacheWrite5m: 40_000, outputText: 500 }
  // 1,000 + 150,000 + 40,000 + 9,000 = 200,000: not above.
  expect(priceOf({ ...usage, cacheWrite1h: 9_000 }, long)).toBe(
    1_000n * 3_000n + 150_000n * 300n + 40_000n * 3_750n + 9_000n * 6_000n + 500n * 15_000n,
  )
  // With one more token, every token has the prices of the tier.
  expect(priceOf({ ...usage, cacheWrite1h: 9_001 }, long)).toBe(
    1_000n * 6_000n + 150_000n * 600n + 40_000n * 7_500n + 9_001n * 12_000n + 500n * 22_500n,
  )
})

test('a quote assumes the most expensive tier that its input bound can reach', () => {
  expect([dearestInput(long, 200_000), dearestOutput(long, 200_000)]).toEqual([6_000_000_000n, 15_000_000_000n])
  expect([dearestInput(long, 200_001), dearestOutput(long, 200_001)]).toEqual([12_000_000_000n, 22_500_000_000n])
  // A cheaper tier does not lower it, because the input may be shorter than the tier's bound.
  const cheaper = { ...long, tiers: [{ aboveInputTokens: 10, nanoPerMillion: unitPrices({ input: 1n, output: 1n }) }] }
  expect([dearestInput(cheaper, 1_000), dearestOutput(cheaper, 1_000)]).toEqual([6_000_000_000n, 15_000_000_000n])
})
