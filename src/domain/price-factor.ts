/** Factors as people write them, and the card at a factor. */
import { divideUp } from './money.ts'
import type { PriceCard, PriceFactor, UnitPrices } from './price.ts'

const MILLION = 1_000_000n
export const FACTOR_MAX: PriceFactor = 100n * MILLION
const DECIMALS = 6
const PATTERN = /^(\d{1,3})(?:\.(\d{1,6}))?$/

/** Reads `0.9` exactly. Undefined for anything but a number above 0, at most 100, of at most six decimals. */
export function parseFactor(text: string): PriceFactor | undefined {
  const [, whole, fraction = ''] = PATTERN.exec(text.trim()) ?? []
  if (whole === undefined) return undefined
  const factor = BigInt(whole) * MILLION + BigInt(fraction.padEnd(DECIMALS, '0'))
  return factor > 0n && factor <= FACTOR_MAX ? factor : undefined
}

/** Writes a factor without trailing zeros: 900_000n is `0.9`. */
export function formatFactor(factor: PriceFactor): string {
  const fraction = (factor % MILLION).toString().padStart(DECIMALS, '0').replace(/0+$/, '')
  return fraction === '' ? `${factor / MILLION}` : `${factor / MILLION}.${fraction}`
}

/**
 * The card at a factor. Each price is rounded up, so that no price above zero becomes zero: that of tokens to the next
 * nano-USD per million, that of a piece to the next nano-USD. The card keeps its id and names its factor. At the factor
 * 1 it is the card itself.
 */
export function scaledCard(card: PriceCard, factor: PriceFactor): PriceCard {
  if (factor === MILLION) return card
  const { tiers, nanoPerMillion } = card
  return {
    ...card,
    nanoPerMillion: scaledPrices(nanoPerMillion, factor),
    ...(tiers && {
      tiers: tiers.map((tier) => ({ ...tier, nanoPerMillion: scaledPrices(tier.nanoPerMillion, factor) })),
    }),
    factor,
  }
}

const scaledPrices = (prices: UnitPrices, factor: PriceFactor): UnitPrices =>
  Object.fromEntries(
    Object.entries(prices).map(([unit, price]) => [
      unit,
      unit.startsWith('piece:')
        ? divideUp(price * factor, MILLION * MILLION) * MILLION
        : divideUp(price * factor, MILLION),
    ]),
  ) as UnitPrices
