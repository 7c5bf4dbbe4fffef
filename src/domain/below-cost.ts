/** Finds models that are sold for less than an offer of them costs, for every unit in every tier. */
import { usageBuckets, type PieceUnit, type UsageBucket } from './usage.ts'
import { saleOfKind, type KindSale, type Model, type ModelKind } from './catalog.ts'
import { unitPriceOfPiece, type PriceCard, type UnitPrices } from './price.ts'
import { priceUnits } from './price-units.ts'

/** One unit that is sold below its cost. Prices are nano-USD per million units, for tokens and pieces. */
export type Loss = {
  readonly unit: UsageBucket | PieceUnit
  /** Holds for requests with more input tokens than this. Undefined: for all requests below the first tier. */
  readonly aboveInputTokens: number | undefined
  readonly sale: bigint
  readonly cost: bigint
}

const imageUnits: ReadonlySet<UsageBucket> = new Set(['inputImage', 'outputImage'])
const outputUnits: ReadonlySet<UsageBucket> = new Set(['outputText', 'outputReasoning'])

/** The units that a model of a kind ever counts. */
function unitsOf(kind: ModelKind): readonly UsageBucket[] {
  const { counts } = saleOfKind(kind)
  return usageBuckets.filter((unit) => counts.includes(tokensOf(unit)))
}

const tokensOf = (unit: UsageBucket): KindSale['counts'][number] =>
  imageUnits.has(unit) ? 'image' : outputUnits.has(unit) ? 'output' : 'input'

/** The prices of requests with just more input tokens. */
const pricesAbove = ({ nanoPerMillion, tiers = [] }: PriceCard, tokens: number): UnitPrices =>
  tiers.findLast(({ aboveInputTokens }) => aboveInputTokens <= tokens)?.nanoPerMillion ?? nanoPerMillion

const isPiece = (unit: string): unit is PieceUnit => unit.startsWith('piece:')
const piecesOf = ({ nanoPerMillion }: PriceCard): readonly PieceUnit[] => Object.keys(nanoPerMillion).filter(isPiece)
const kindOf = (unit: PieceUnit): string => unit.replace(/\/.*/, '')
const isFree = (prices: UnitPrices): boolean => usageBuckets.every((unit) => prices[unit] === 0n)

/**
 * Compares tokens with tokens, and a kind of piece with the same kind. No card says how many tokens an image or a
 * second is. If one side sells by the piece only and the other by the token, nothing is compared.
 */
export function lossesOf(kind: ModelKind, sale: PriceCard, cost: PriceCard): readonly Loss[] {
  return [...tokenLosses(kind, sale, cost), ...pieceLosses(sale, cost)]
}

function tokenLosses(kind: ModelKind, sale: PriceCard, cost: PriceCard): readonly Loss[] {
  if (piecesOf(sale).length > 0 && isFree(sale.nanoPerMillion)) return []
  const losses: Loss[] = []
  for (const from of boundsOf(sale, cost)) {
    const [sold, paid] = [pricesAbove(sale, from), pricesAbove(cost, from)]
    for (const unit of unitsOf(kind)) {
      if (sold[unit] >= paid[unit] || isSaidBy(unit, sold, paid)) continue
      const loss = { unit, aboveInputTokens: from === 0 ? undefined : from, sale: sold[unit], cost: paid[unit] }
      const before = losses.findLast((one) => one.unit === unit)
      if (before?.sale !== loss.sale || before.cost !== loss.cost) losses.push(loss)
    }
  }
  return losses
}

/**
 * The token counts at which prices change. Bounds that differ by one, such as 271,999 and 272,000, are the same bound:
 * the one token between them is no loss.
 */
function boundsOf(...cards: readonly PriceCard[]): readonly number[] {
  const all = cards.flatMap(({ tiers = [] }) => tiers.map(({ aboveInputTokens }) => aboveInputTokens))
  const bounds = [...new Set([0, ...all])].toSorted((a, b) => a - b)
  return bounds.filter((bound, i) => bound === 0 || bounds[i + 1] !== bound + 1)
}

/** Whether a unit has the same prices as another on both sides. Then it is no loss of its own. */
function isSaidBy(unit: UsageBucket, sold: UnitPrices, paid: UnitPrices): boolean {
  const like = priceUnits.find((one) => one.unit === unit)?.like
  return like !== undefined && sold[unit] === sold[like] && paid[unit] === paid[like]
}

function pieceLosses(sale: PriceCard, cost: PriceCard): readonly Loss[] {
  const [sold, paid] = [piecesOf(sale), piecesOf(cost)]
  const shared = new Set(sold.map(kindOf)).intersection(new Set(paid.map(kindOf)))
  return [...new Set([...sold, ...paid])]
    .filter((unit) => shared.has(kindOf(unit)))
    .map((unit) => ({
      unit,
      aboveInputTokens: undefined,
      sale: unitPriceOfPiece(sale, unit),
      cost: unitPriceOfPiece(cost, unit),
    }))
    .filter(({ sale: price, cost: paidPrice }) => price < paidPrice)
}

/** All losses of a model, with the offer that costs more. */
export const modelLosses = ({
  kind,
  sale,
  offers,
}: Model): readonly (Loss & { readonly offer: Model['offers'][0] })[] =>
  offers.flatMap((offer) => lossesOf(kind, sale, offer.cost).map((loss) => ({ ...loss, offer })))

/** A unit as the API names it: `cached_input`, `second/720p`. */
export const unitName = (unit: UsageBucket | PieceUnit): string =>
  isPiece(unit) ? unit.slice('piece:'.length) : (priceUnits.find((one) => one.unit === unit)?.name ?? unit)
