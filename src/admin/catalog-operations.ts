import { z } from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import {
  modelKinds,
  type Model,
  type ModelDraft,
  type ModelKind,
  type ModelLimits,
  type Offer,
  type Provider,
  type ProviderReach,
} from '../domain/catalog.ts'
import { firstEventTimeoutOf } from '../vendors/first-token-timeout.ts'
import type { LocalizedMessage } from '../lib/primitives/localized-message.ts'
import { checkBaseUrl } from '../outbound/guard.ts'
import { modelLimitChanges, modelLimitFields, modelLimitsOf } from '../vendors/model-limits.ts'
import { lossesOf } from '../domain/below-cost.ts'
import { priceGapsOf } from '../domain/image.ts'
import { findPreset, isOwnAddress, isSendableKey, presets } from '../vendors/presets.ts'
import { restingOffers } from '../router/health.ts'
import { probe } from '../vendors/probe.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'
import {
  declaredElsewhere,
  done,
  notFound,
  operation,
  refused,
  type Changes,
  type Operation,
  type Result,
} from './operation.ts'
import { cardPrices, isRefused, offersOf, priceInput, pricesOf } from './price-input.ts'
import { lossView, priceView } from './price-view.ts'

const id = z.string().regex(/^[\w][\w.:/@-]{0,199}$/, operationRules.model_id)
const providerId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, operationRules.provider_id)

const offer = z.strictObject({
  provider: z.string(),
  model: z.string().min(1),
  cost: priceInput.nullable().optional(),
  priority: z.int().min(0).default(0),
  weight: z.int().min(1).default(1),
  /** The most tokens that it takes, input and output together. Left out: the limit of the model. */
  context_tokens: z.int().min(1).optional(),
})

/** A provider as operations show it, without its key. */
export const providerView = (provider: Provider) => ({
  id: provider.id,
  preset: provider.preset,
  base_url: provider.baseUrl,
  allow_private: provider.reach === 'private',
  concurrent_requests: provider.concurrentRequests ?? null,
  has_key: provider.secret !== undefined,
  origin: provider.origin,
  state: provider.state ?? 'serving',
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

const limitsView = (model: Model): object => ({
  output_tokens_max: model.limits.outputTokensMax ?? null,
  output_tokens_default: model.limits.outputTokensDefault ?? null,
  output_tokens_min: model.limits.outputTokensMin,
  hidden_reasoning: model.limits.hidesReasoning,
  image_tokens_max: model.limits.imageTokensMax,
  first_event_timeout_ms: firstEventTimeoutOf(model),
  dimensions: model.limits.dimensions ?? null,
  dimensions_adjustable: model.limits.dimensionsAdjustable,
  context_tokens: model.limits.contextTokens ?? null,
  media_input: model.limits.mediaInput,
  picture_input: model.limits.pictureInput,
})

const modelView = (model: Model): object => ({
  id: model.id,
  owned_by: model.ownedBy,
  kind: model.kind,
  origin: model.origin,
  price: priceView(model.sale),
  /** What the model can make but has no price for. Such requests are refused. */
  unpriced: priceGapsOf(model),
  limits: limitsView(model),
  ...(model.kind === 'image' ? { image: model.limits.image } : {}),
  ...(model.kind === 'video' ? { video: model.limits.video } : {}),
  offers: model.offers.map((each) => offerView(model, each)),
})

function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : ''
}

const invalid = (said: LocalizedMessage): Result => refused('invalid_input', said)

/** What the audit log keeps about a provider and about a model. */
const ofProvider: Changes<{ id: string }> = {
  subject: ({ id: name }) => name,
  view: ({ catalog }, { id: name }) => {
    const provider = catalog.provider(name)
    return provider && providerView(provider)
  },
}
const ofModel: Changes<{ id: string }> = {
  subject: ({ id: name }) => name,
  view: ({ catalog }, { id: name }) => {
    const model = catalog.model(name)
    return model && modelView(model)
  },
}

const providerAdd = operation(
  z.strictObject({
    id: providerId,
    /** Left out: the preset stays. A new provider gets the preset with its id, else custom. */
    preset: z.enum(presets.map((preset) => preset.id)).optional(),
    /** Left out: the address stays. A new provider gets the preset's address. Null: the preset's address. */
    base_url: z.string().min(1).nullable().optional(),
    /** Whether it may be at a private address. Left out: the permission stays if the origin does, else it may not. */
    allow_private: z.boolean().optional(),
    /** The most requests in flight there at once. Left out: the limit stays. Null: the usual limit. */
    concurrent_requests: z.int().min(1).nullable().optional(),
    /** Left out: the stored key stays if the origin does. Null: no key. */
    key: z.string().min(1).nullable().optional(),
  }),
  async (
    { catalog, resume, tally },
    { id: name, preset: wanted, base_url: baseUrl, allow_private: allowed, concurrent_requests: most, key },
  ): Promise<Result> => {
    const before = catalog.provider(name)
    if (before?.origin === 'declared') return declaredElsewhere('provider', name)
    const preset = wanted ?? before?.preset ?? findPreset(name)?.id ?? 'custom'
    const unchanged = before?.preset === preset && baseUrl !== null ? before.baseUrl : undefined
    const address = baseUrl ?? unchanged ?? findPreset(preset)?.baseUrl
    if (!address) return invalid(sayRefusal('url_needed', { preset }))
    // The key and the permission for a private address both belong to an origin.
    const same = before && originOf(before.baseUrl) === originOf(address) ? before : undefined
    const reach: ProviderReach = allowed === undefined ? (same?.reach ?? 'public') : allowed ? 'private' : 'public'
    const checked = checkBaseUrl(address, isOwnAddress(preset, address) ? 'private' : reach)
    if (checked.kind === 'bad') return invalid(sayRefusal('url_bad', { why: checked.message, fault: checked.fault }))
    if (checked.kind === 'private') return invalid(sayRefusal('url_private', { place: checked.name }))
    if (before?.secret && !same?.secret && key === undefined) return invalid(sayRefusal('url_other_origin'))
    if (key && !isSendableKey(preset, key)) return invalid(sayRefusal('key_unsendable'))
    const secret = key === undefined ? same?.secret : (key ?? undefined)
    const concurrentRequests = most === undefined ? before?.concurrentRequests : (most ?? undefined)
    await catalog.putProvider({ id: name, preset, baseUrl: checked.url.href, reach, secret, concurrentRequests })
    const made = catalog.provider(name)
    // A new key or address may end the failures, so the next request tries the offers again.
    if (made && (before?.secret !== made.secret || before?.baseUrl !== made.baseUrl)) {
      resume(name)
      tally.changed(name)
    }
    return made ? done(providerView(made)) : notFound('provider', name)
  },
  ofProvider,
)

/** Why nobody could call such a model, or why it would be free. Undefined if neither is the case. */
function misfitOf(
  catalog: Catalog,
  { kind, limits, price: { inputFresh, ...prices } }: Pick<ModelDraft, 'limits' | 'price'> & { kind: ModelKind },
): LocalizedMessage | undefined {
  const isSold = inputFresh > 0n || Object.values(prices).some((amount) => amount > 0n)
  if (!isSold && (kind === 'image' || kind === 'video')) return sayRefusal('price_needed', { kind })
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
const modelAdd = operation(
  z.strictObject({
    id,
    price: priceInput,
    owned_by: z.string().min(1).optional(),
    kind: z.enum(modelKinds).optional(),
    ...modelLimitFields,
    offers: z.array(offer).min(1),
  }),
  async ({ catalog }, input): Promise<Result> => {
    const before = catalog.model(input.id)
    if (before?.origin === 'declared') return declaredElsewhere('model', input.id)
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
const modelChange = operation(
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

const providerState = operation(
  z.strictObject({ id: z.string(), state: z.enum(['serving', 'drained']) }),
  async ({ catalog }, { id: name, state }): Promise<Result> => {
    if (!catalog.provider(name)) return notFound('provider', name)
    await catalog.setProviderState(name, state)
    const changed = catalog.provider(name)
    return changed ? done(providerView(changed)) : notFound('provider', name)
  },
  ofProvider,
)

/** Lets offers of a provider that rest after failures take requests again at once. */
const providerResume = operation(
  z.strictObject({ id: z.string() }),
  ({ catalog, resume }, { id: name }): Result =>
    catalog.provider(name) ? done({ id: name, resumed: resume(name) }) : notFound('provider', name),
  {
    subject: ({ id: name }) => name,
    view: ({ catalog, health }, { id: name }) => ({
      id: name,
      resting_offers: restingOffers(catalog, { health: health(), nowMs: Date.now() }, name),
    }),
  },
)

export const catalogOperations: Readonly<Record<string, Operation>> = {
  'provider.add': providerAdd,
  'provider.list': operation(z.strictObject({}), ({ catalog }) => done(catalog.providers().map(providerView))),
  'provider.test': operation(z.strictObject({ id: z.string() }), async ({ catalog, resume, tally }, { id: name }) => {
    const provider = catalog.provider(name)
    const preset = provider && findPreset(provider.preset)
    if (!provider || !preset) return notFound('provider', name)
    if (provider.baseUrl === '') return refused('failed', sayRefusal('sandbox_absent'))
    const { ok, status, tookMs, models, problem } = await probe(provider, preset)
    if (ok) resume(name)
    tally.tested(name, { ok, status, problem, atMs: Date.now() })
    return done({ id: name, ok, status: status ?? null, took_ms: tookMs, models, problem: problem ?? null })
  }),
  'provider.remove': operation(
    z.strictObject({ id: z.string() }),
    async ({ catalog }, { id: name }) => {
      if (catalog.provider(name)?.origin === 'declared') return declaredElsewhere('provider', name)
      return (await catalog.removeProvider(name)) ? done({ id: name, removed: true }) : notFound('provider', name)
    },
    ofProvider,
  ),
  'provider.state': providerState,
  'provider.resume': providerResume,
  'model.add': modelAdd,
  'model.change': modelChange,
  'model.list': operation(z.strictObject({}), ({ catalog }) => done(catalog.models().map(modelView))),
  'model.remove': operation(
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
