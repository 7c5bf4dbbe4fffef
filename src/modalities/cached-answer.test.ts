import { expect, test } from 'bun:test'
import { unitPrices, priceOf, type PriceCard } from '../domain/price.ts'
import { hitMetered, quoteHit } from './cached-answer.ts'

const card = (each?: Record<string, bigint>): PriceCard => ({
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices({ input: 1_000_000_000n, output: 2_000_000_000n, each }),
})

test('a hit is free unless the price card has a price for it', () => {
  expect(quoteHit({ sale: card() }, { available: 0n })).toMatchObject({ kind: 'quoted', amount: 0n })
  expect(quoteHit({ sale: card({ image: 40n }) }, { available: 0n })).toMatchObject({ kind: 'quoted', amount: 0n })
})

test('a hit is held at its exact price, or refused', () => {
  const sale = card({ 'answer/cached': 700n })
  const quoted = quoteHit({ sale }, { available: 700n })
  expect(quoted).toMatchObject({ kind: 'quoted', amount: 700n, grows: false, cap: undefined })
  expect(priceOf(hitMetered.usage, sale)).toBe(700n)
  expect(quoteHit({ sale }, { available: 699n })).toEqual({ kind: 'unaffordable', needed: 700n, fitting: 0 })
})
