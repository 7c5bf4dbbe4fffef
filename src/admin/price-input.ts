/** Prices as operations take them: exact decimal dollars, per million tokens and for one piece. */
import { z } from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import type { Model, ModelKind, OfferDraft } from '../domain/catalog.ts'
import { parseUsd } from '../domain/money.ts'
import type { PriceCard } from '../domain/price.ts'
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
    .record(z.string().regex(/^[a-z]+(?:\/[\w.-]+)*$/, operationRules.piece), perMillion)
    .nullable()
    .optional(),
})

/** What is left out stays where it is there, and follows from input and output otherwise; which null does. */
export const priceInput = units.extend({
  /** By a number of input tokens: what all tokens of a longer request cost. Left out: as before. Null: nothing else. */
  above: z
    .record(z.string().regex(/^[1-9]\d{0,8}$/, operationRules.tokens_above), units)
    .nullable()
    .optional(),
})
export type PriceInput = z.infer<typeof priceInput>

type PricedKind = { readonly kind: ModelKind; readonly paintsInTurn: boolean }

/** The prices, or why nobody could be charged by them; `at` is where in the input they are. */
export function pricesOf(
  stated: PriceInput,
  sold: PricedKind,
  { at, before }: { readonly at: string; readonly before?: PricesBefore | undefined },
): Prices | OperationRefusal {
  const missing = missingUnit(stated, sold, before)
  if (!missing) return pricesFrom(stated, before)
  const param = [at, ...missing.path].join('.')
  return { ...refused('invalid_input', sayRefusal('unit_needed', { unit: param, kind: sold.kind })), param }
}

export const isRefused = (made: object): made is OperationRefusal => 'ok' in made

export const cardPrices = ({ nanoPerMillion, tiers = [] }: PriceCard): Prices => ({ units: nanoPerMillion, tiers })

/** An offer as it is asked for; `cost` undefined: nothing is said, null: taken back. */
export type OfferInput = {
  readonly provider: string
  readonly model: string
  readonly priority: number
  readonly weight: number
  readonly cost?: PriceInput | null | undefined
  /** Undefined: nothing is said, null: taken back. */
  readonly context_tokens?: number | null | undefined
}

type Costs = PricedKind & {
  readonly catalog: Catalog
  /** What is there already. */
  readonly before: Model['offers']
  /** Whether a cost that is not named stays, or is as if nobody had said one. */
  readonly unnamed: 'stays' | 'listed'
  readonly sale: Prices
}

/**
 * Offers with what they cost: what is said, put into what was there; else what was there; else the vendor's list price;
 * and where no list has one, the sale price, which is no loss.
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
  // A replaced model states units as a whole; its tiers stay, as those of the sale do.
  if (cost) return pricesOf(cost, costs, { at, before: unnamed === 'stays' ? known : known && { tiers: known.tiers } })
  if (cost === undefined && unnamed === 'stays' && known) return known
  const listed = listedCost(catalog.provider(provider)?.preset, model, Date.now())
  return listed ?? sale
}
