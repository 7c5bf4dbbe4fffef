/** The mark-up: the share that is added to a vendor's list price. */
import { divideUp } from '../domain/money.ts'
import type { PriceTier, UnitPrices } from '../domain/price.ts'

/** In millionths of the list price: 20 % is 200_000. */
export type MarkUp = bigint

const MILLION = 1_000_000n
const PER_CENT = 10_000n
const PATTERN = /^(\d{1,4})(?:\.(\d{1,4}))?\s*%?$/

/** Reads `20%`, `20` or `12.5%`. Undefined if the text is no percentage with at most four decimals. */
export function parseMarkUp(text: string): MarkUp | undefined {
  const match = PATTERN.exec(text.trim())
  if (!match) return undefined
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole) * PER_CENT + BigInt(fraction.padEnd(4, '0'))
}

/** `20%` */
export function formatMarkUp(by: MarkUp): string {
  const fraction = (by % PER_CENT).toString().padStart(4, '0').replace(/0+$/, '')
  return `${by / PER_CENT}${fraction === '' ? '' : `.${fraction}`}%`
}

/** Adds the mark-up to every price, rounded up to the nano-USD per million units. */
export const markUp = (prices: UnitPrices, by: MarkUp): UnitPrices =>
  Object.fromEntries(
    Object.entries(prices).map(([unit, price]) => [unit, divideUp(price * (MILLION + by), MILLION)]),
  ) as UnitPrices

export const markUpTiers = (tiers: readonly PriceTier[], by: MarkUp): readonly PriceTier[] =>
  tiers.map(({ aboveInputTokens, nanoPerMillion }) => ({
    aboveInputTokens,
    nanoPerMillion: markUp(nanoPerMillion, by),
  }))
