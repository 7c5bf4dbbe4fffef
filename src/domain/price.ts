import { divideUp, millionthUp, type NanoUsd } from './money.ts'
import { inputTokens, usageBuckets, type PieceUnit, type Usage, type UsageBucket } from './usage.ts'

/**
 * A dated set of unit prices of one model (what the customer pays) or one offer (what it costs the operator). Cards are
 * never edited: a change is a new card with a later `effectiveFromMs`, and every charge pins its card. Prices are
 * nano-USD per million units, so $0.075 per million tokens is the integer 75_000_000.
 */
export type PriceCard = {
  readonly id: number
  readonly effectiveFromMs: number
  readonly nanoPerMillion: UnitPrices
  /** By rising `aboveInputTokens`. */
  readonly tiers?: readonly PriceTier[]
  /** The factor of an account. The prices are those of the card `id` at this factor. */
  readonly factor?: PriceFactor
  /** The account whose own card this is. */
  readonly accountId?: string
}

/** The share of a model's price that an account pays, in millionths: 0.9 is 900_000n. */
export type PriceFactor = bigint

/**
 * The prices of all tokens of a request, input and output, if its whole input has more tokens than this, cached ones
 * included. Vendors price long contexts this way: by the request, not by the tokens above the bound.
 */
export type PriceTier = { readonly aboveInputTokens: number; readonly nanoPerMillion: UnitPrices }

/** Nano-USD per million units of each bucket, and of each kind of piece. */
export type UnitPrices = Readonly<Record<UsageBucket, bigint>> & { readonly [unit: PieceUnit]: bigint }

/**
 * Prices as people state them, in nano-USD per million tokens. Missing prices follow from those of input and output.
 */
export type StatedPrices = {
  readonly input: bigint
  readonly output: bigint
  readonly cachedInput?: bigint | undefined
  readonly cacheWrite?: bigint | undefined
  readonly cacheWrite1h?: bigint | undefined
  readonly reasoning?: bigint | undefined
  readonly imageInput?: bigint | undefined
  readonly imageOutput?: bigint | undefined
  /** Nano-USD for one piece, by the name after `piece:`. */
  readonly each?: Readonly<Record<string, bigint>> | undefined
}

const MILLION = 1_000_000n

/** The highest price of one piece. Per million pieces it must fit into the 64 bits of the store. */
export const PIECE_PRICE_MAX: NanoUsd = 9_000n * 1_000_000_000n

/** An answer from the answer cache. No vendor makes it, so no price list has a price for it. */
export const CACHED_ANSWER: PieceUnit = 'piece:answer/cached'

export function unitPrices(stated: StatedPrices): UnitPrices {
  const { input, output, cachedInput, cacheWrite, cacheWrite1h, reasoning, each = {} } = stated
  const pieces = Object.entries(each).map(([name, price]): [PieceUnit, bigint] => [`piece:${name}`, price * MILLION])
  return {
    ...Object.fromEntries(pieces),
    inputFresh: input,
    inputCached: cachedInput ?? input,
    cacheWrite5m: cacheWrite ?? input,
    cacheWrite1h: cacheWrite1h ?? cacheWrite ?? input,
    outputText: output,
    outputReasoning: reasoning ?? output,
    inputImage: stated.imageInput ?? input,
    outputImage: stated.imageOutput ?? output,
  }
}

/** The price of a usage, rounded up once to the next nano-USD. */
export function priceOf(usage: Usage, card: PriceCard): NanoUsd {
  const prices = pricesFor(usage, card)
  // A number is used as long as it is exact, which holds for nearly every sum. It saves nine big integers.
  let small = 0
  let large = 0n
  for (const bucket of usageBuckets) {
    const units = usage[bucket] ?? 0
    if (!(units > 0)) continue
    const sum = small + units * Number(prices[bucket])
    // Every rounding error is beyond the safe integers too, so a sum that looks safe is exact.
    if (Number.isSafeInteger(sum)) small = sum
    else large += BigInt(units) * prices[bucket]
  }
  if (usage.pieces) for (const { unit, count } of usage.pieces) large += BigInt(count) * unitPriceOfPiece(card, unit)
  if (large > 0n) return divideUp(BigInt(small) + large, MILLION)
  return millionthUp(small)
}

/** The prices of a card for a usage: those of its tier. */
export function pricesFor(usage: Usage, { nanoPerMillion, tiers }: PriceCard): UnitPrices {
  const tier = tiers?.findLast(({ aboveInputTokens }) => inputTokens(usage) > aboveInputTokens)
  return tier?.nanoPerMillion ?? nanoPerMillion
}

/** The price of a piece, per million. */
export const unitPriceOfPiece = (card: PriceCard, unit: PieceUnit): bigint =>
  piecePrice(card, unit) ?? dearestOfKind(card, unit)

/**
 * The price of a piece, by its own name or the nearest parent's: `image/1024x1024/high`, `image/1024x1024`, `image`.
 * Undefined if the card has none of them.
 */
export function piecePrice({ nanoPerMillion }: PriceCard, unit: PieceUnit): bigint | undefined {
  for (let name: PieceUnit = unit; ; name = name.slice(0, name.lastIndexOf('/')) as PieceUnit) {
    const price = nanoPerMillion[name]
    if (price !== undefined || !name.includes('/')) return price
  }
}

/**
 * The highest price of this kind of piece. Admission has checked that the requested piece has a price. If the upstream
 * made a different one, it counts as the most expensive of its kind. A card without pieces of the kind sells by tokens.
 */
function dearestOfKind({ nanoPerMillion }: PriceCard, unit: PieceUnit): bigint {
  const kind = unit.replace(/\/.*/, '')
  let dearest = 0n
  for (const [name, price] of Object.entries(nanoPerMillion)) {
    if ((name === kind || name.startsWith(`${kind}/`)) && price > dearest) dearest = price
  }
  return dearest
}

const inputBuckets = ['inputFresh', 'inputCached', 'cacheWrite5m', 'cacheWrite1h', 'inputImage'] as const
const outputBuckets = ['outputText', 'outputReasoning', 'outputImage'] as const

/** The highest of some prices, in any tier that a request of at most so many input tokens can reach. */
export function dearest(
  { nanoPerMillion, tiers }: PriceCard,
  inputTokensMax: number,
  buckets: readonly UsageBucket[],
): bigint {
  let most = dearestOf(nanoPerMillion, buckets, 0n)
  if (!tiers) return most
  for (const tier of tiers) {
    if (inputTokensMax > tier.aboveInputTokens) most = dearestOf(tier.nanoPerMillion, buckets, most)
  }
  return most
}

function dearestOf(prices: UnitPrices, buckets: readonly UsageBucket[], least: bigint): bigint {
  let most = least
  for (const bucket of buckets) if (prices[bucket] > most) most = prices[bucket]
  return most
}

/** The highest price of an input token. A quote must assume it before the upstream has answered. */
export const dearestInput = (card: PriceCard, inputTokensMax: number): bigint =>
  dearest(card, inputTokensMax, inputBuckets)

/** The highest price of an output token. */
export const dearestOutput = (card: PriceCard, inputTokensMax: number): bigint =>
  dearest(card, inputTokensMax, outputBuckets)
