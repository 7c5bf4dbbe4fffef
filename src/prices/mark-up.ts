/** What is put on a vendor's list price when it is sold on. */
import { divideUp } from '../domain/money.ts'
import type { PriceTier, UnitPrices } from '../domain/price.ts'

/** In millionths of the list price: 20 % is 200_000. */
export type MarkUp = bigint

const MILLION = 1_000_000n
const PER_CENT = 10_000n
const PATTERN = /^(\d{1,4})(?:\.(\d{1,4}))?\s*%?$/

/** Reads `20%`, `20` or `12.5%`. Undefined when it is not a percentage of at most four decimals. */
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

/** Every price with the mark-up on it, rounded up to the nano-USD per million units. */
export const markUp = (prices: UnitPrices, by: MarkUp): UnitPrices =>
  Object.fromEntries(
    Object.entries(prices).map(([unit, price]) => [unit, divideUp(price * (MILLION + by), MILLION)]),
  ) as UnitPrices

export const markUpTiers = (tiers: readonly PriceTier[], by: MarkUp): readonly PriceTier[] =>
  tiers.map(({ aboveInputTokens, nanoPerMillion }) => ({
    aboveInputTokens,
    nanoPerMillion: markUp(nanoPerMillion, by),
  }))
