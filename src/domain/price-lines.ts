/** A charge taken apart, for whoever wants to see why it is what it is. */
import type { NanoUsd } from './money.ts'
import { divideUp } from './money.ts'
import { priceOf, pricesFor, unitPriceOfPiece, type PriceCard } from './price.ts'
import { usageBuckets, type Usage } from './usage.ts'

export type PriceLine = {
  /** A bucket of the usage, or a piece. */
  readonly unit: string
  readonly count: number
  readonly nanoPerMillion: bigint
  /** In millionths of a nano-USD, exact: the sum is rounded, not the lines. */
  readonly amountMillionths: bigint
}

export type PriceLines = {
  readonly lines: readonly PriceLine[]
  /** What rounding up once adds, in millionths of a nano-USD. */
  readonly roundingMillionths: bigint
  readonly total: NanoUsd
}

const MILLION = 1_000_000n

/** The lines of a price: they and the rounding add up to it. */
export function priceLines(usage: Usage, card: PriceCard): PriceLines {
  const prices = pricesFor(usage, card)
  const line = (unit: string, count: number, nanoPerMillion: bigint): PriceLine => ({
    unit,
    count,
    nanoPerMillion,
    amountMillionths: BigInt(count) * nanoPerMillion,
  })
  const lines = [
    ...usageBuckets
      .filter((bucket) => (usage[bucket] ?? 0) > 0)
      .map((bucket) => line(bucket, usage[bucket] ?? 0, prices[bucket])),
    ...(usage.pieces ?? []).map(({ unit, count }) => line(unit, count, unitPriceOfPiece(card, unit))),
  ]
  const exact = lines.reduce((sum, { amountMillionths }) => sum + amountMillionths, 0n)
  const total = priceOf(usage, card)
  return { lines, roundingMillionths: divideUp(exact, MILLION) * MILLION - exact, total }
}
