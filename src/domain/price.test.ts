import { expect, test } from 'bun:test'
import { dearestInput, priceOf, unitPrices } from './price.ts'

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

test('no usage costs nothing', () => expect(priceOf(nothing, card)).toBe(0n))

test('a quote assumes the dearest input bucket', () => {
  expect(dearestInput({ ...card, nanoPerMillion: unitPrices({ input: 1n, output: 1n, cacheWrite: 5n }) })).toBe(5n)
})
