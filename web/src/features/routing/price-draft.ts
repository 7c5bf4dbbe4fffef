/** Prices as they are typed: dollars per million tokens, and for one piece. */
import type { ModelKind, UnitPrices } from '../../lib/models.ts'
import { asTyped, isAmount, nanoOf, typedDollars } from '../../lib/money.ts'

export type TokenUnit = Exclude<keyof UnitPrices, 'each'>

/** What models of a kind are sold by, the usual first. */
export const tokenUnits: Readonly<Record<ModelKind, readonly TokenUnit[]>> = {
  text: ['input', 'cached_input', 'output', 'cache_write', 'cache_write_1h', 'reasoning'],
  embedding: ['input'],
  image: ['input', 'cached_input', 'output', 'image_input', 'image_output'],
  video: ['output'],
}
export const pieceUnits: Readonly<Record<ModelKind, readonly string[]>> = {
  text: [],
  embedding: [],
  image: ['image'],
  video: ['second', 'token', 'upscale'],
}

/** A piece is named from the left, as exactly as its price needs: `image/1024x1024/high`, `second/720p/silent`. */
export type PieceDraft = {
  readonly unit: string
  /** The size of an image, the resolution of a video. */
  readonly size: string
  /** The quality of an image; of a video, whatever else its price depends on. */
  readonly rest: string
  readonly price: string
}
export type PriceDraft = {
  readonly tokens: Readonly<Partial<Record<TokenUnit, string>>>
  readonly pieces: readonly PieceDraft[]
}

export const noPrice: PriceDraft = { tokens: {}, pieces: [] }

/** What a price follows from where it is not said. */
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
    return prices[unit] !== '0' || (tokenUnits[kind].includes(unit) && !hasPieces)
  })
  return Object.fromEntries(stated.map((unit) => [unit, asTyped(prices[unit])]))
}

export const priceDraftOf = (prices: UnitPrices, kind: ModelKind): PriceDraft => ({
  tokens: tokensOf(prices, kind),
  pieces: Object.entries(prices.each).map(([name, price]) => {
    const [unit = '', size = '', ...rest] = name.split('/')
    return { unit, size, rest: rest.join('/'), price: asTyped(price) }
  }),
})

/** Units that a form of such a model shows: those of its kind, and whatever else was priced before. */
export const unitsShown = ({ tokens }: PriceDraft, kind: ModelKind): readonly TokenUnit[] => [
  ...tokenUnits[kind],
  ...allUnits.filter((unit) => !tokenUnits[kind].includes(unit) && tokens[unit] !== undefined),
]

export const areAmounts = ({ tokens, pieces }: PriceDraft): boolean =>
  [...Object.values(tokens), ...pieces.map(({ price }) => price)].every(isAmount)

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

/** As the API takes them; undefined where nothing is said. Throws on what are no amounts: none of them is nothing. */
export function pricesOf({ tokens, pieces }: PriceDraft): object | undefined {
  const stated = Object.entries(tokens).filter(([, typed]) => typed.trim() !== '')
  const priced = pieces.filter(({ price }) => price.trim() !== '')
  if (stated.length === 0 && priced.length === 0) return undefined
  return {
    input: '0',
    output: '0',
    ...Object.fromEntries(stated.map(([unit, typed]) => [unit, nanoText(typed)])),
    ...(priced.length === 0
      ? {}
      : { each: Object.fromEntries(priced.map((piece) => [nameOf(piece), nanoText(piece.price)])) }),
  }
}
