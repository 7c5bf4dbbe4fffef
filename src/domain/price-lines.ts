/** Splits a charge into lines that explain it. */
import type { NanoUsd } from './money.ts'
import { divideUp } from './money.ts'
import { priceOf, pricesFor, unitPriceOfPiece, type PriceCard } from './price.ts'
import { usageBuckets, type Usage } from './usage.ts'

export type PriceLine = {
  /** A bucket of the usage, or a piece. */
  readonly unit: string
  readonly count: number
  readonly nanoPerMillion: bigint
  /** Exact, in millionths of a nano-USD. Only the sum is rounded. */
  readonly amountMillionths: bigint
}

export type PriceLines = {
  readonly lines: readonly PriceLine[]
  /** What the one rounding up adds, in millionths of a nano-USD. */
  readonly roundingMillionths: bigint
  readonly total: NanoUsd
}

const MILLION = 1_000_000n

/** The lines of a price. With the rounding they add up to it. */
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
