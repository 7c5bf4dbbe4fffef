/** Merges stated prices into the prices before. Prices that are not stated stay. */
import type { KindSale } from '../domain/catalog.ts'
import { unitPrices, type PriceTier, type UnitPrices } from '../domain/price.ts'
import { isStated, priceUnits } from '../domain/price-units.ts'

const tokenNames = [
  'input',
  'output',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'image_input',
  'image_output',
] as const
type TokenName = (typeof tokenNames)[number]

/** Nano-USD per million tokens, or for one piece in `each`. Undefined: not stated. Null: it follows another unit. */
export type StatedUnits = { readonly [Name in TokenName]?: bigint | null | undefined } & {
  readonly each?: Readonly<Record<string, bigint>> | null | undefined
}
export type CardStatement = StatedUnits & {
  /** Prices of all tokens of a request with more than this number of input tokens. */
  readonly above?: Readonly<Record<string, StatedUnits>> | null | undefined
}

export type Prices = { readonly units: UnitPrices; readonly tiers: readonly PriceTier[] }
/** The prices before. Without units, the statement is taken as a whole. */
export type PricesBefore = { readonly units?: UnitPrices | undefined; readonly tiers: readonly PriceTier[] }

/** A unit that the kind of a model needs and that is not stated. */
export type MissingUnit = { readonly path: readonly string[]; readonly unit: string }

const hasTokens = (stated: StatedUnits): boolean =>
  tokenNames.some((name) => stated[name] !== undefined && stated[name] !== null)
const hasPieces = ({ each }: StatedUnits): boolean => Object.keys(each ?? {}).length > 0
const isByPieceAlone = (stated: StatedUnits): boolean => hasPieces(stated) && !hasTokens(stated)

const pieces = (prices: UnitPrices | undefined): readonly (readonly [string, bigint])[] =>
  Object.entries(prices ?? {}).filter(([unit]) => unit.startsWith('piece:'))
const soldTokens = (prices: UnitPrices): boolean => priceUnits.some(({ unit }) => prices[unit] > 0n)

/**
 * Merges a statement into the units before. A statement by the piece alone replaces prices by tokens, and the reverse.
 * A card that has both keeps the prices that are not stated.
 */
function unitsOf(stated: StatedUnits, before: UnitPrices | undefined): UnitPrices {
  const kept = isByPieceAlone(stated) ? undefined : before
  const named = (name: TokenName): bigint | undefined => {
    const value = stated[name]
    if (value !== undefined) return value ?? undefined
    const unit = priceUnits.find((each) => each.name === name)
    return kept && unit && isStated(kept, unit) ? kept[unit.unit] : undefined
  }
  const units = unitPrices({
    input: named('input') ?? 0n,
    output: named('output') ?? 0n,
    cachedInput: named('cached_input'),
    cacheWrite: named('cache_write'),
    cacheWrite1h: named('cache_write_1h'),
    reasoning: named('reasoning'),
    imageInput: named('image_input'),
    imageOutput: named('image_output'),
    each: stated.each ?? undefined,
  })
  const staysByPiece = stated.each === undefined && before && (!hasTokens(stated) || soldTokens(before))
  return staysByPiece ? { ...units, ...Object.fromEntries(pieces(before)) } : units
}

/** Merges a statement into the prices before. The tiers are sorted by rising length. */
export function pricesFrom(stated: CardStatement, before?: PricesBefore): Prices {
  const { above } = stated
  const known = before?.tiers ?? []
  const units = unitsOf(stated, before?.units)
  if (above === undefined) return { units, tiers: isByPieceAlone(stated) ? [] : known }
  const tiers = Object.entries(above ?? {}).map(([tokens, tier]) => {
    const aboveInputTokens = Number(tokens)
    const old = known.find((one) => one.aboveInputTokens === aboveInputTokens)
    return { aboveInputTokens, nanoPerMillion: unitsOf(tier, old?.nanoPerMillion) }
  })
  return { units, tiers: tiers.toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens) }
}

type PricedModel = Pick<KindSale, 'soldBy' | 'tokenPrices'> & {
  /** Whether it is an image model that also answers with text. */
  readonly paintsInTurn: boolean
}

/** The first unit that is missing for a sale. A unit that exists before need not be stated. */
export function missingUnit(stated: CardStatement, sold: PricedModel, before?: PricesBefore): MissingUnit | undefined {
  const { above } = stated
  const missing = missingOf(stated, sold, before?.units)
  if (missing !== undefined) return { path: [missing], unit: missing }
  for (const [tokens, tier] of Object.entries(above ?? {})) {
    const old = before?.tiers.find(({ aboveInputTokens }) => aboveInputTokens === Number(tokens))
    const unit = missingOf(tier, sold, old?.nanoPerMillion)
    if (unit !== undefined) return { path: ['above', tokens, unit], unit }
  }
  return undefined
}

function missingOf(stated: StatedUnits, sold: PricedModel, before: UnitPrices | undefined): string | undefined {
  const { soldBy, tokenPrices, paintsInTurn } = sold
  const isThere = before !== undefined && !isByPieceAlone(stated)
  const lacks = (name: 'input' | 'output'): boolean => (stated[name] === undefined ? !isThere : stated[name] === null)
  const unstated = soldBy === 'tokens' ? tokenPrices.find(lacks) : undefined
  if (unstated !== undefined) return unstated
  if (paintsInTurn && lacks('output')) return 'output'
  if (hasPieces(stated) || before !== undefined) return undefined
  if (soldBy === 'pieces') return 'each'
  return hasTokens(stated) ? undefined : 'input'
}

/**
 * The problem of the prices that `tollgate.yaml` states for a model or a tier: the model would be served for free, or a
 * price could not be charged. Undefined if there is none.
 */
export function problemOfDeclared(stated: StatedUnits, sold: PricedModel & { readonly kind: string }) {
  const { kind, soldBy, tokenPrices, paintsInTurn } = sold
  const missing = tokenPrices.filter((name) => stated[name] === undefined)
  const isByToken = soldBy === 'tokens'
  if (isByToken && missing.includes('output')) return `output: a ${kind} model needs its price`
  if (paintsInTurn && stated.output === undefined) return 'output: such a model also answers with text'
  if (paintsInTurn && hasPieces(stated)) return 'each: such a model is sold by tokens'
  if (isByToken) return missing.includes('input') ? `input: a ${kind} model needs its price` : undefined
  if (hasPieces(stated)) return undefined
  if (soldBy === 'pieces') return `each: a ${kind} model needs its price`
  return missing.length < tokenPrices.length ? undefined : 'a model needs a price: input, or each'
}
