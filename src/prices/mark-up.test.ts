import { expect, test } from 'bun:test'
import { unitPrices } from '../domain/price.ts'
import { formatMarkUp, markUp, parseMarkUp } from './mark-up.ts'

test('a mark-up is a percentage of at most four decimals', () => {
  expect(['20%', '20', '12.5%', '0', '0.0001 %'].map(parseMarkUp)).toEqual([200_000n, 200_000n, 125_000n, 0n, 1n])
  expect(['', '-5%', '1e3', '0.00001', 'x%', '20%%'].map(parseMarkUp)).toEqual(Array(6).fill(undefined))
  expect([200_000n, 125_000n, 0n, 1n].map(formatMarkUp)).toEqual(['20%', '12.5%', '0%', '0.0001%'])
})

test('it is added to every price exactly, rounded up to the nano-dollar', () => {
  const marked = markUp(
    unitPrices({ input: 1_250_000_000n, output: 10n, cachedInput: 1n, each: { image: 3n } }),
    125_000n,
  )
  expect(marked.inputFresh).toBe(1_406_250_000n)
  // 11.25 and 1.125 nano-dollars.
  expect([marked.outputText, marked.inputCached]).toEqual([12n, 2n])
  expect(marked['piece:image']).toBe(3_375_000n)
})
