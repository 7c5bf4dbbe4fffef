/** Prices as typed: dollars per million tokens, and dollars per piece. */
import type { PriceCard } from '../../lib/api-types.gen.ts'
import type { ModelKind, UnitPrices } from '../../lib/models.ts'
import { asTyped, isAmount, nanoOf, typedDollars } from '../../lib/money.ts'

export type TokenUnit = Exclude<keyof UnitPrices, 'each'>

/** The units of each kind of model, the usual one first. */
const tokenUnits: Readonly<Partial<Record<ModelKind, readonly TokenUnit[]>>> = {
  text: ['input', 'cached_input', 'output', 'cache_write', 'cache_write_1h', 'reasoning'],
  embedding: ['input'],
  image: ['input', 'cached_input', 'output', 'image_input', 'image_output'],
  video: ['output'],
}
const pieceUnits: Readonly<Partial<Record<ModelKind, readonly string[]>>> = {
  text: [],
  embedding: [],
  image: ['image'],
  video: ['second', 'token', 'upscale'],
}

export const tokenUnitsOf = (kind: ModelKind): readonly TokenUnit[] => tokenUnits[kind] ?? ['input', 'output']
/** The pieces of a kind. Undefined: the console does not know them, and the operator types their names. */
export const pieceUnitsOf = (kind: ModelKind): readonly string[] | undefined => pieceUnits[kind]

/** The name of a piece is as specific as its price needs: `image/1024x1024/high`, `second/720p/silent`. */
export type PieceDraft = {
  readonly unit: string
  /** The size of an image, or the resolution of a video. */
  readonly size: string
  /** The quality of an image, or the other properties that the price of a video depends on. */
  readonly rest: string
  readonly price: string
}
type TokenPrices = Readonly<Partial<Record<TokenUnit, string>>>
/** Prices for requests with more input tokens. */
export type TierDraft = { readonly above: string; readonly tokens: TokenPrices }
export type PriceDraft = {
  readonly tokens: TokenPrices
  readonly pieces: readonly PieceDraft[]
  readonly tiers: readonly TierDraft[]
}

export const noPrice: PriceDraft = { tokens: {}, pieces: [], tiers: [] }

/** The price that applies if this one is empty. */
const same: Partial<Record<TokenUnit, TokenUnit>> = {
  cached_input: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  reasoning: 'output',
  image_input: 'input',
  image_output: 'output',
}
const allUnits: readonly TokenUnit[] = ['input', 'output', ...(Object.keys(same) as TokenUnit[])]

function tokensOf(prices: UnitPrices, kind: ModelKind): PriceDraft['tokens'] {
  const hasPieces = Object.keys(prices.each).length > 0
  const stated = allUnits.filter((unit) => {
    const other = same[unit]
    if (other !== undefined) return prices[unit] !== prices[other]
    return prices[unit] !== '0' || (tokenUnitsOf(kind).includes(unit) && !hasPieces)
  })
  return Object.fromEntries(stated.map((unit) => [unit, asTyped(prices[unit])]))
}

type PricedDraft = UnitPrices & Partial<Pick<PriceCard, 'tiers'>>

export const priceDraftOf = (prices: PricedDraft, kind: ModelKind): PriceDraft => ({
  tokens: tokensOf(prices, kind),
  pieces: Object.entries(prices.each).map(([name, price]) => {
    const [unit = '', size = '', ...rest] = name.split('/')
    return { unit, size, rest: rest.join('/'), price: asTyped(price) }
  }),
  tiers: (prices.tiers ?? []).map((tier) => ({
    above: String(tier.above_input_tokens),
    tokens: tokensOf(tier, kind),
  })),
})

/** The units that a form shows: those of the kind, and others that have a price already. */
export const unitsShown = ({ tokens }: Pick<PriceDraft, 'tokens'>, kind: ModelKind): readonly TokenUnit[] => [
  ...tokenUnitsOf(kind),
  ...allUnits.filter((unit) => !tokenUnitsOf(kind).includes(unit) && tokens[unit] !== undefined),
]

export const areAmounts = ({ tokens, pieces, tiers }: PriceDraft): boolean =>
  [tokens, ...tiers.map((tier) => tier.tokens)].every((typed) => Object.values(typed).every(isAmount)) &&
  pieces.every(({ price }) => isAmount(price))

export const nameOf = ({ unit, size, rest }: PieceDraft): string =>
  [unit, size, ...rest.split('/')]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('/')

function nanoText(typed: string): string {
  const dollars = typedDollars(typed)
  if (dollars === undefined) throw new RangeError(`no amount: ${typed}`)
  return nanoOf(dollars).toString()
}

const isTyped = (text: string | undefined): boolean => text !== undefined && text.trim() !== ''

/** The typed price. Null: a price that was removed. */
const tokensToSend = (tokens: TokenPrices, before: TokenPrices): object => ({
  input: '0',
  output: '0',
  ...Object.fromEntries(
    allUnits.flatMap((unit): [string, string | null][] => {
      const typed = tokens[unit] ?? ''
      if (isTyped(typed)) return [[unit, nanoText(typed)]]
      return same[unit] !== undefined && isTyped(before[unit]) ? [[unit, null]] : []
    }),
  ),
})

function tiersToSend(tiers: readonly TierDraft[], before: readonly TierDraft[]): object {
  if (JSON.stringify(tiers) === JSON.stringify(before)) return {}
  if (tiers.length === 0) return { above: null }
  const old = (above: string): TokenPrices => before.find((tier) => tier.above === above)?.tokens ?? {}
  return {
    above: Object.fromEntries(
      tiers.map(({ above, tokens }) => [above.trim(), tokensToSend(tokens, old(above.trim()))]),
    ),
  }
}

/**
 * The prices in the form of the API. Null: a price that was removed. Undefined: no prices are typed. It throws on
 * invalid amounts, because they must not count as absent.
 */
export function pricesOf({ tokens, pieces, tiers }: PriceDraft, before: PriceDraft = noPrice): object | undefined {
  const priced = pieces.filter(({ price }) => isTyped(price))
  if (!Object.values(tokens).some(isTyped) && priced.length === 0 && tiers.length === 0) return undefined
  const each = Object.fromEntries(priced.map((piece) => [nameOf(piece), nanoText(piece.price)]))
  return {
    ...tokensToSend(tokens, before.tokens),
    ...(priced.length > 0 ? { each } : before.pieces.length > 0 ? { each: null } : {}),
    ...tiersToSend(tiers, before.tiers),
  }
}
