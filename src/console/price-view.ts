/** Price cards in the terms of the API: nano-USD per million tokens, or for one piece. */
import { z } from 'zod'
import { formatUsd } from '../domain/money.ts'
import { formatFactor } from '../domain/price-factor.ts'
import { unitPriceOfPiece, type PriceCard, type UnitPrices } from '../domain/price.ts'
import type { PieceUnit, UsageBucket } from '../domain/usage.ts'
import { unitName, type Loss } from '../domain/below-cost.ts'
import { isoTime, nano, nanoInput, time } from './shapes.ts'

const unitsShape = z.strictObject({
  input: nano,
  cached_input: nano,
  cache_write: nano,
  cache_write_1h: nano,
  output: nano,
  reasoning: nano,
  image_input: nano,
  image_output: nano,
  each: z.record(z.string(), nano).meta({ description: 'for one piece, such as image/1024x1024' }),
})

export const cardShape = unitsShape
  .extend({
    card: z.int(),
    effective_from: time,
    tiers: z
      .array(unitsShape.extend({ above_input_tokens: z.int() }).meta({ id: 'PriceTier' }))
      .meta({ description: 'the prices of requests with more input tokens' }),
  })
  .meta({ id: 'PriceCard' })

/** Where a sale price comes from: the model, its price at the factor of the account, or a card of the account. */
export const basisShape = z.enum(['model', 'factor', 'card']).meta({
  id: 'PriceBasis',
  description: 'model: the price of the model; factor: that price at the factor of the account; card: its own price',
})

export const basisOf = ({
  factor,
  accountId,
}: PriceCard): { readonly basis: z.infer<typeof basisShape>; readonly factor: string | null } => ({
  basis: factor !== undefined ? 'factor' : accountId !== undefined ? 'card' : 'model',
  factor: factor === undefined ? null : formatFactor(factor),
})

const MILLION = 1_000_000n

const isPiece = (unit: string): unit is PieceUnit => unit.startsWith('piece:')

const unitsView = (prices: UnitPrices): z.infer<typeof unitsShape> => ({
  input: prices.inputFresh.toString(),
  cached_input: prices.inputCached.toString(),
  cache_write: prices.cacheWrite5m.toString(),
  cache_write_1h: prices.cacheWrite1h.toString(),
  output: prices.outputText.toString(),
  reasoning: prices.outputReasoning.toString(),
  image_input: prices.inputImage.toString(),
  image_output: prices.outputImage.toString(),
  each: Object.fromEntries(
    Object.entries(prices)
      .filter(([unit]) => isPiece(unit))
      .map(([unit, price]) => [unit.slice('piece:'.length), (price / MILLION).toString()]),
  ),
})

export const cardView = ({
  id,
  effectiveFromMs,
  nanoPerMillion,
  tiers = [],
}: PriceCard): z.infer<typeof cardShape> => ({
  card: id,
  effective_from: isoTime(effectiveFromMs),
  ...unitsView(nanoPerMillion),
  tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...unitsView(tier.nanoPerMillion) })),
})

const unit = nanoInput.nullable().optional()
const unitsInput = z.strictObject({
  input: unit,
  output: unit,
  cached_input: unit,
  cache_write: unit,
  cache_write_1h: unit,
  reasoning: unit,
  image_input: unit,
  image_output: unit,
  each: z.record(z.string(), nanoInput).nullable().optional().meta({ description: 'for one piece; null: none' }),
})
/**
 * Prices in a request body. A price that is left out stays if the model is changed, else it follows from input and
 * output. Null makes it follow in any case. `each` alone is enough for a model that is sold by the piece.
 */
export const priceBody = unitsInput.extend({
  above: z.record(z.string(), unitsInput).nullable().optional().meta({
    description: 'prices of requests with more than this number of input tokens; left out: unchanged; null: no tiers',
  }),
})

/** The same prices for an operation, with exact dollars as text. */
export const pricesOfBody = ({ above, ...units }: z.infer<typeof priceBody>): object => ({
  ...unitsOf(units),
  ...(above === undefined ? {} : { above: above && mapValues(above, unitsOf) }),
})

const unitsOf = ({ each, ...tokens }: z.infer<typeof unitsInput>): object => ({
  ...dollarsOf(tokens),
  ...(each === undefined ? {} : { each: each && dollarsOf(each) }),
})

const mapValues = <V>(values: Readonly<Record<string, V>>, of: (value: V) => unknown): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, of(value)]))

const dollarsOf = (prices: Readonly<Record<string, bigint | null | undefined>>): object =>
  Object.fromEntries(
    Object.entries(prices).flatMap(([name, price]) =>
      price === undefined ? [] : [[name, price === null ? null : formatUsd(price)]],
    ),
  )

export const lossShape = z
  .strictObject({
    unit: z.string().meta({ description: 'a unit of prices, or a kind of piece' }),
    above_input_tokens: z.int().nullable(),
    sale: nano,
    cost: nano,
  })
  .meta({ id: 'Loss' })

/** A loss per million tokens, or for one piece. */
export const consoleLossView = ({ unit, aboveInputTokens, sale, cost }: Loss): z.infer<typeof lossShape> => {
  const per = isPiece(unit) ? MILLION : 1n
  return {
    unit: unitName(unit),
    above_input_tokens: aboveInputTokens ?? null,
    sale: (sale / per).toString(),
    cost: (cost / per).toString(),
  }
}

export const marginShape = z
  .strictObject({
    input_percent: z
      .number()
      .nullable()
      .meta({ description: 'the margin of the sale price; null: it is sold for nothing' }),
    output_percent: z.number().nullable().meta({
      description: 'the least margin of the output units; also null if the cost has units that the sale price lacks',
    }),
    input_markup_percent: z
      .number()
      .nullable()
      .meta({ description: 'the mark-up on the cost; null: it costs nothing, or is sold for nothing' }),
    output_markup_percent: z
      .number()
      .nullable()
      .meta({ description: 'the same for output, of the unit of `output_percent`' }),
  })
  .meta({ id: 'Margin' })

const outputBuckets: readonly string[] = ['outputText', 'outputReasoning', 'outputImage']

/** The output units with a price above zero: token buckets and kinds of pieces. */
const pricedOutputs = (prices: UnitPrices): readonly string[] =>
  Object.entries(prices).flatMap(([unit, price]) =>
    price > 0n && (isPiece(unit) || outputBuckets.includes(unit)) ? [unit] : [],
  )

type Margin = { readonly margin: number; readonly markup: number | null }

const least = ({ markup }: Margin): number => markup ?? Number.MAX_VALUE

/** Per cent to the nearest tenth. A price that was rounded up to the nano-dollar must not change a shown 20 %. */
const percent = (part: bigint, whole: bigint): number => Math.round(Number((part * 100_000n) / whole) / 100) / 10

/**
 * What an offer earns. The margin is relative to the sale price, and the mark-up to the cost. Both are of one unit,
 * because the unit with the least margin also has the least mark-up.
 */
export function marginOf(sale: PriceCard, cost: PriceCard): z.infer<typeof marginShape> {
  const earned = (sold: bigint, paid: bigint): Margin | undefined =>
    sold === 0n
      ? undefined
      : { margin: percent(sold - paid, sold), markup: paid === 0n ? null : percent(sold - paid, paid) }
  const left = (unit: string): Margin | undefined =>
    isPiece(unit)
      ? earned(unitPriceOfPiece(sale, unit), unitPriceOfPiece(cost, unit))
      : earned(sale.nanoPerMillion[unit as UsageBucket], cost.nanoPerMillion[unit as UsageBucket])
  const kindOf = (unit: string): string => unit.split('/')[0] ?? unit
  const sold = pricedOutputs(sale.nanoPerMillion)
  const soldKinds = new Set(sold.map(kindOf))
  // No card says how many tokens a picture or a second has, so such units cannot be compared.
  const isComparable = pricedOutputs(cost.nanoPerMillion).every((unit) => soldKinds.has(kindOf(unit)))
  const input = left('inputFresh')
  const [output] = isComparable
    ? sold.flatMap((unit) => left(unit) ?? []).toSorted((a, b) => a.margin - b.margin || least(a) - least(b))
    : []
  return {
    input_percent: input?.margin ?? null,
    output_percent: output?.margin ?? null,
    input_markup_percent: input?.markup ?? null,
    output_markup_percent: output?.markup ?? null,
  }
}
