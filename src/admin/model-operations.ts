/** What an operator does to models. */
import { z } from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import { modelKinds, saleOfKind, type Model, type ModelDraft, type ModelKind, type Offer } from '../domain/catalog.ts'
import type { ModelLimits } from '../domain/model-limits.ts'
import type { LocalizedMessage } from '../lib/primitives/localized-message.ts'
import { policyOf } from '../router/policies/policies.ts'
import { modelLimitChanges, modelLimitFields, modelLimitsOf, modelLimitsView } from '../vendors/model-limits.ts'
import { lossesOf } from '../domain/below-cost.ts'
import { priceGapsOf } from '../domain/image.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'
import {
  catalogChange,
  conflict,
  declaredElsewhere,
  done,
  notFound,
  operation,
  refused,
  type Changes,
  type Operation,
  type Result,
} from './operation.ts'
import { explainedRequest, explainPlan } from './explain.ts'
import { cardPrices, isRefused, offersOf, priceInput, pricesOf } from './price-input.ts'
import { lossView, priceView } from './price-view.ts'

export const modelId = z.string().regex(/^[\w][\w.:/@-]{0,199}$/, operationRules.model_id)
export const providerId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, operationRules.provider_id)

const offer = z.strictObject({
  provider: z.string(),
  model: z.string().min(1),
  cost: priceInput.nullable().optional(),
  priority: z.int().min(0).default(0),
  weight: z.int().min(1).default(1),
  /** The most tokens that it takes, input and output together. Left out: the limit of the model. */
  context_tokens: z.int().min(1).optional(),
})

const offerView = (
  { kind, sale }: Model,
  { providerId: provider, upstreamModel, priority, weight, contextTokens, cost }: Offer,
): object => ({
  provider,
  model: upstreamModel,
  priority,
  weight,
  context_tokens: contextTokens ?? null,
  cost: priceView(cost),
  /** The units that the model sells for less than this offer costs. */
  below_cost: lossesOf(kind, sale, cost).map(lossView),
})

const modelView = (model: Model): object => ({
  id: model.id,
  owned_by: model.ownedBy,
  kind: model.kind,
  origin: model.origin,
  aliases: model.aliases ?? [],
  price: priceView(model.sale),
  /** What the model can make but has no price for. Such requests are refused. */
  unpriced: priceGapsOf(model),
  limits: modelLimitsView(model),
  ...(model.kind === 'image' ? { image: model.limits.image } : {}),
  ...(model.kind === 'video' ? { video: model.limits.video } : {}),
  offers: model.offers.map((each) => offerView(model, each)),
})

export const invalid = (said: LocalizedMessage): Result => refused('invalid_input', said)

/** What the audit log keeps about a provider and about a model. */
const ofModel: Changes<{ id: string }> = {
  subject: ({ id: name }) => name,
  view: ({ catalog }, { id: name }) => {
    const model = catalog.model(name)
    return model && modelView(model)
  },
}

/** Why nobody could call such a model, or why it would be free. Undefined if neither is the case. */
export function misfitOf(
  catalog: Catalog,
  { kind, limits, price: { inputFresh, ...prices } }: Pick<ModelDraft, 'limits' | 'price'> & { kind: ModelKind },
): LocalizedMessage | undefined {
  const isSold = inputFresh > 0n || Object.values(prices).some((amount) => amount > 0n)
  if (!isSold && saleOfKind(kind).soldBy !== 'tokens') return sayRefusal('price_needed', { kind })
  const hasPieces = Object.keys(prices).some((unit) => unit.startsWith('piece:'))
  if (kind === 'image' && limits.image?.surface === 'turn' && hasPieces) {
    return sayRefusal('sold_by_tokens')
  }
  const upscaler = kind === 'video' ? limits.video?.upscaler : undefined
  if (upscaler !== undefined && !catalog.provider(upscaler)) return sayRefusal('no_upscaler', { name: upscaler })
  return undefined
}

/** Refuses the first offer whose provider does not exist. */
const missingProvider = (
  catalog: Catalog,
  offers: readonly { readonly provider: string }[] = [],
): Result | undefined => {
  const missing = offers.find(({ provider }) => !catalog.provider(provider))
  return missing && notFound('provider', missing.provider)
}

const isTurn = (kind: ModelKind, { image }: Partial<ModelLimits>): boolean =>
  kind === 'image' && image?.surface === 'turn'

/**
 * Adds a model or replaces one. The prices are stated as a whole, except for the tiers, which stay unless they are
 * named. If tiers were dropped silently, long requests would be sold below cost.
 */
const modelAdd = catalogChange(
  z.strictObject({
    id: modelId,
    price: priceInput,
    owned_by: z.string().min(1).optional(),
    kind: z.enum(modelKinds).optional(),
    ...modelLimitFields,
    offers: z.array(offer).min(1),
  }),
  async ({ catalog }, input): Promise<Result> => {
    const before = catalog.model(input.id)
    if (before?.origin === 'declared') return declaredElsewhere('model', input.id)
    if (!before && catalog.alias(input.id)) return conflict(sayRefusal('model_is_alias', { name: input.id }))
    const missing = missingProvider(catalog, input.offers)
    if (missing) return missing
    const limits = modelLimitsOf(input)
    const kind = input.kind ?? 'text'
    const replaced = before?.kind === kind ? before : undefined
    const sold = { kind, paintsInTurn: isTurn(kind, limits) }
    const tiers = replaced && { tiers: cardPrices(replaced.sale).tiers }
    const sale = pricesOf(input.price, sold, { at: 'price', before: tiers })
    if (isRefused(sale)) return sale
    const problem = misfitOf(catalog, { kind, limits, price: sale.units })
    if (problem !== undefined) return invalid(problem)
    const costs = { ...sold, catalog, before: replaced?.offers ?? [], unnamed: 'listed', sale } as const
    const offers = offersOf(input.offers, costs)
    if (isRefused(offers)) return offers
    await catalog.putModel({
      id: input.id,
      ownedBy: input.owned_by,
      kind: input.kind,
      limits,
      price: sale.units,
      priceTiers: sale.tiers,
      offers,
    })
    const made = catalog.model(input.id)
    return made ? done(modelView(made)) : notFound('model', input.id)
  },
  ofModel,
)

/** Left out: the limit stays, or is that of the model. Null: the limit of the model. */
const offerChange = offer.extend({ context_tokens: offer.shape.context_tokens.unwrap().nullable().optional() })

/** Changes only what is named of a stored model. An offer that is named again keeps its cost. */
const modelChange = catalogChange(
  z.strictObject({
    id: z.string(),
    price: priceInput.optional(),
    ...modelLimitChanges,
    offers: z.array(offerChange).min(1).optional(),
  }),
  async ({ catalog }, { id: name, price, offers, ...changed }): Promise<Result> => {
    const before = catalog.model(name)
    if (!before) return notFound('model', name)
    if (before.origin !== 'stored') return declaredElsewhere('model', name)
    const missing = missingProvider(catalog, offers)
    if (missing) return missing
    const stated = modelLimitsOf(changed)
    const limits = { ...before.limits, ...stated }
    const { kind } = before
    const sold = { kind, paintsInTurn: isTurn(kind, limits) }
    const known = cardPrices(before.sale)
    const sale = price ? pricesOf(price, sold, { at: 'price', before: known }) : known
    if (isRefused(sale)) return sale
    // A change that does not name the upscaler is valid even if the upscaler has been removed since.
    const problem = misfitOf(catalog, { kind, limits: { image: limits.image, ...stated }, price: sale.units })
    if (problem !== undefined) return invalid(problem)
    const asBefore = before.offers.map((each) => ({
      provider: each.providerId,
      model: each.upstreamModel,
      priority: each.priority,
      weight: each.weight,
    }))
    const costs = { ...sold, catalog, before: before.offers, unnamed: 'stays', sale } as const
    const wanted = offersOf(offers ?? asBefore, costs)
    if (isRefused(wanted)) return wanted
    await catalog.putModel({
      id: name,
      ownedBy: before.ownedBy,
      kind,
      limits,
      price: sale.units,
      priceTiers: sale.tiers,
      offers: wanted,
    })
    const made = catalog.model(name)
    return made ? done(modelView(made)) : notFound('model', name)
  },
  ofModel,
)

export const modelOperations: Readonly<Record<string, Operation>> = {
  'model.add': modelAdd,
  'model.change': modelChange,
  'model.list': operation(z.strictObject({}), ({ catalog }) => done(catalog.models().map(modelView))),
  'model.explain': operation(
    z.strictObject({ id: z.string(), ...explainedRequest }),
    (services, { id: name, ...asked }) => {
      const model = services.catalog.modelNamed(name)
      if (!model) return notFound('model', name)
      const { name: policy } = policyOf(model, asked.routing)
      return done({ id: model.id, policy, steps: explainPlan(services, model, asked) })
    },
  ),
  'model.remove': catalogChange(
    z.strictObject({ id: z.string() }),
    async ({ catalog }, { id: name }) => {
      const origin = catalog.model(name)?.origin ?? 'stored'
      // A model that a vendor's key brings would be back at the next start.
      if (origin !== 'stored') return declaredElsewhere('model', name)
      return (await catalog.removeModel(name)) ? done({ id: name, removed: true }) : notFound('model', name)
    },
    ofModel,
  ),
}
