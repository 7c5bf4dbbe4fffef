/** Prices as operations take them: exact decimal dollars per million tokens or for one piece. */
import { z } from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import { saleOfKind, type Model, type ModelKind, type OfferDraft } from '../domain/catalog.ts'
import { parseUsd } from '../domain/money.ts'
import { PIECE_PRICE_MAX, type PriceCard } from '../domain/price.ts'
import { missingUnit, pricesFrom, type Prices, type PricesBefore } from '../prices/stated-prices.ts'
import { listedCost } from '../prices/vendor-models.ts'
import { refused, type OperationRefusal } from './operation.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'

/** Dollars per million tokens, as decimal text. */
const perMillion = z.string().transform((text, context) => {
  const amount = parseUsd(text)
  if (amount !== undefined && amount >= 0n) return amount
  context.addIssue({ code: 'custom', message: operationRules.dollars_per_million })
  return z.NEVER
})
const perPiece = z.string().transform((text, context) => {
  const amount = parseUsd(text)
  if (amount !== undefined && amount >= 0n && amount <= PIECE_PRICE_MAX) return amount
  context.addIssue({ code: 'custom', message: operationRules.dollars_per_piece })
  return z.NEVER
})
const unit = perMillion.nullable().optional()
const units = z.strictObject({
  input: unit,
  output: unit,
  cached_input: unit,
  cache_write: unit,
  cache_write_1h: unit,
  reasoning: unit,
  image_input: unit,
  image_output: unit,
  /** Dollars for one piece, such as `image/1024x1024`. */
  each: z
    .record(z.string().regex(/^[a-z]+(?:\/[\w.-]+)*$/, operationRules.piece), perPiece)
    .nullable()
    .optional(),
})

/** A price that is left out stays. If there is none, it follows from input and output. Null makes it follow, too. */
export const priceInput = units.extend({
  /** Prices of all tokens of a request with more than this number of input tokens. Left out: unchanged. Null: none. */
  above: z
    .record(z.string().regex(/^[1-9]\d{0,8}$/, operationRules.tokens_above), units)
    .nullable()
    .optional(),
})
export type PriceInput = z.infer<typeof priceInput>

type PricedKind = { readonly kind: ModelKind; readonly paintsInTurn: boolean }

/** Returns the prices, or the reason why they cannot be charged. `at` is their path in the input. */
export function pricesOf(
  stated: PriceInput,
  sold: PricedKind,
  { at, before }: { readonly at: string; readonly before?: PricesBefore | undefined },
): Prices | OperationRefusal {
  const missing = missingUnit(stated, { ...saleOfKind(sold.kind), paintsInTurn: sold.paintsInTurn }, before)
  if (!missing) return pricesFrom(stated, before)
  const param = [at, ...missing.path].join('.')
  return { ...refused('invalid_input', sayRefusal('unit_needed', { unit: param, kind: sold.kind })), param }
}

export const isRefused = (made: object): made is OperationRefusal => 'ok' in made

export const cardPrices = ({ nanoPerMillion, tiers = [] }: PriceCard): Prices => ({ units: nanoPerMillion, tiers })

/** An offer in the input. A `cost` of undefined is not stated, and null removes the stated cost. */
export type OfferInput = {
  readonly provider: string
  readonly model: string
  readonly priority: number
  readonly weight: number
  readonly cost?: PriceInput | null | undefined
  /** Undefined: not stated. Null: removed. */
  readonly context_tokens?: number | null | undefined
}

type Costs = PricedKind & {
  readonly catalog: Catalog
  /** The offers before the change. */
  readonly before: Model['offers']
  /** Whether a cost that is not stated stays, or becomes the list price. */
  readonly unnamed: 'stays' | 'listed'
  readonly sale: Prices
}

/**
 * Offers with their costs. A stated cost is merged into the cost before. Without one, the cost is the one before, else
 * the vendor's list price, else the sale price, at which nothing is lost.
 */
export function offersOf(offers: readonly OfferInput[], costs: Costs): readonly OfferDraft[] | OperationRefusal {
  const drafts: OfferDraft[] = []
  for (const [i, wanted] of offers.entries()) {
    const old = oldOf(wanted, costs)
    const cost = costOf(wanted, `offers.${i}.cost`, costs)
    if (isRefused(cost)) return cost
    const { provider: providerId, model: upstreamModel, priority, weight, context_tokens: context } = wanted
    const kept = costs.unnamed === 'stays' ? old?.contextTokens : undefined
    const contextTokens = context === undefined ? kept : (context ?? undefined)
    drafts.push({ providerId, upstreamModel, priority, weight, contextTokens, cost: cost.units, costTiers: cost.tiers })
  }
  return drafts
}

const oldOf = ({ provider, model }: OfferInput, { before }: Costs): Model['offers'][number] | undefined =>
  before.find((offer) => offer.providerId === provider && offer.upstreamModel === model)

function costOf(wanted: OfferInput, at: string, costs: Costs): Prices | OperationRefusal {
  const { provider, model, cost } = wanted
  const { catalog, unnamed, sale } = costs
  const old = oldOf(wanted, costs)
  const known = old && cardPrices(old.cost)
  // A replaced model states its units as a whole. Its tiers stay, as the tiers of the sale price do.
  if (cost) return pricesOf(cost, costs, { at, before: unnamed === 'stays' ? known : known && { tiers: known.tiers } })
  if (cost === undefined && unnamed === 'stays' && known) return known
  const listed = listedCost(catalog.provider(provider)?.preset, model, Date.now())
  return listed ?? sale
}
