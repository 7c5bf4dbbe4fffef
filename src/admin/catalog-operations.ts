import { z } from 'zod'
import type { Catalog } from '../catalog/catalog.ts'
import {
  modelKinds,
  type Model,
  type ModelDraft,
  type ModelKind,
  type Offer,
  type OfferDraft,
  type Provider,
  type Reach,
} from '../domain/catalog.ts'
import { parseUsd } from '../domain/money.ts'
import { firstEventTimeoutOf } from '../domain/patience.ts'
import { unitPrices, type UnitPrices } from '../domain/price.ts'
import type { Said } from '../lib/sentence.ts'
import { checkBaseUrl } from '../outbound/guard.ts'
import { modelLimitChanges, modelLimitFields, modelLimitsOf } from '../providers/model-limits.ts'
import { findPreset, isOwnAddress, isSendableKey, presets } from '../providers/presets.ts'
import { restingOffers } from '../router/health.ts'
import { probe } from '../upstream/probe.ts'
import { say } from './refusals.ts'
import { rules } from './rules.ts'
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
import { priceView } from './price-view.ts'

const id = z.string().regex(/^[\w][\w.:/@-]{0,199}$/, rules.model_id)
const providerId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, rules.provider_id)

/** Dollars per million tokens, as decimal text. */
const perMillion = z.string().transform((text, context) => {
  const amount = parseUsd(text)
  if (amount !== undefined && amount >= 0n) return amount
  context.addIssue({ code: 'custom', message: rules.dollars_per_million })
  return z.NEVER
})
const price = z
  .strictObject({
    input: perMillion,
    output: perMillion,
    cached_input: perMillion.optional(),
    cache_write: perMillion.optional(),
    cache_write_1h: perMillion.optional(),
    reasoning: perMillion.optional(),
    image_input: perMillion.optional(),
    image_output: perMillion.optional(),
    /** Dollars for one piece, such as `image/1024x1024`. */
    each: z.record(z.string().regex(/^[a-z]+(?:\/[\w.-]+)*$/), perMillion).optional(),
  })
  .transform((stated): UnitPrices =>
    unitPrices({
      ...stated,
      cachedInput: stated.cached_input,
      cacheWrite: stated.cache_write,
      cacheWrite1h: stated.cache_write_1h,
      imageInput: stated.image_input,
      imageOutput: stated.image_output,
    }),
  )

const offer = z.strictObject({
  provider: z.string(),
  model: z.string().min(1),
  cost: price.optional(),
  priority: z.int().min(0).default(0),
  weight: z.int().min(1).default(1),
  /** How many tokens it takes, input and output together. Left out: as many as the model. */
  context_tokens: z.int().min(1).optional(),
})

/** What may be shown of a provider: never its key. */
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

const offerView = ({ providerId: provider, upstreamModel, priority, weight, contextTokens, cost }: Offer): object => ({
  provider,
  model: upstreamModel,
  priority,
  weight,
  context_tokens: contextTokens ?? null,
  cost: priceView(cost),
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
  limits: limitsView(model),
  ...(model.kind === 'image' ? { image: model.limits.image } : {}),
  ...(model.kind === 'video' ? { video: model.limits.video } : {}),
  offers: model.offers.map(offerView),
})

function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : ''
}

const invalid = (said: Said): Result => refused('invalid_input', said)

/** What the audit log keeps of a provider and a model. */
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
    /** Left out: that of the provider when it is changed; for a new one the id where it is a preset, else custom. */
    preset: z.enum(presets.map((preset) => preset.id)).optional(),
    /** Left out: that of the provider when it is changed, else the preset's; which null is, too. */
    base_url: z.string().min(1).nullable().optional(),
    /** Whether it may be at a private address. Left out: as before where the origin is, else not. */
    allow_private: z.boolean().optional(),
    /** How many requests may be under way there at once. Left out: as before. Null: as many as anywhere. */
    concurrent_requests: z.int().min(1).nullable().optional(),
    /** Left out when a provider is changed: the stored key stays, as long as it goes to the same origin. Null: none. */
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
    if (!address) return invalid(say('url_needed', { preset }))
    // Both the key and the allowance were given for an origin.
    const same = before && originOf(before.baseUrl) === originOf(address) ? before : undefined
    const reach: Reach = allowed === undefined ? (same?.reach ?? 'public') : allowed ? 'private' : 'public'
    const checked = checkBaseUrl(address, isOwnAddress(preset, address) ? 'private' : reach)
    if (checked.kind === 'bad') return invalid(say('url_bad', { why: checked.message, fault: checked.fault }))
    if (checked.kind === 'private') return invalid(say('url_private', { place: checked.name }))
    if (before?.secret && !same?.secret && key === undefined) return invalid(say('url_other_origin'))
    if (key && !isSendableKey(preset, key)) return invalid(say('key_unsendable'))
    const secret = key === undefined ? same?.secret : (key ?? undefined)
    const concurrentRequests = most === undefined ? before?.concurrentRequests : (most ?? undefined)
    await catalog.putProvider({ id: name, preset, baseUrl: checked.url.href, reach, secret, concurrentRequests })
    const made = catalog.provider(name)
    // What it failed for may be mended: whoever asks next finds out.
    if (made && (before?.secret !== made.secret || before?.baseUrl !== made.baseUrl)) {
      resume(name)
      tally.changed(name)
    }
    return made ? done(providerView(made)) : notFound('provider', name)
  },
  ofProvider,
)

/** Why nobody could call such a model, or everybody for nothing; undefined: somebody can, for its price. */
function misfitOf(
  catalog: Catalog,
  { kind, limits, price: { inputFresh, ...prices } }: Pick<ModelDraft, 'limits' | 'price'> & { kind: ModelKind },
): Said | undefined {
  const isSold = inputFresh > 0n || Object.values(prices).some((amount) => amount > 0n)
  if (!isSold && (kind === 'image' || kind === 'video')) return say('price_needed', { kind })
  const hasPieces = Object.keys(prices).some((unit) => unit.startsWith('piece:'))
  if (kind === 'image' && limits.image?.surface === 'turn' && hasPieces) {
    return say('sold_by_tokens')
  }
  const upscaler = kind === 'video' ? limits.video?.upscaler : undefined
  if (upscaler !== undefined && !catalog.provider(upscaler)) return say('no_upscaler', { name: upscaler })
  return undefined
}

const modelAdd = operation(
  z.strictObject({
    id,
    price,
    owned_by: z.string().min(1).optional(),
    kind: z.enum(modelKinds).optional(),
    ...modelLimitFields,
    offers: z.array(offer).min(1),
  }),
  async ({ catalog }, input): Promise<Result> => {
    if (catalog.model(input.id)?.origin === 'declared') return declaredElsewhere('model', input.id)
    const missing = input.offers.find(({ provider }) => !catalog.provider(provider))
    if (missing) return notFound('provider', missing.provider)
    const limits = modelLimitsOf(input)
    const problem = misfitOf(catalog, { kind: input.kind ?? 'text', limits, price: input.price })
    if (problem !== undefined) return invalid(problem)
    await catalog.putModel({
      id: input.id,
      ownedBy: input.owned_by,
      kind: input.kind,
      limits,
      price: input.price,
      offers: offersOf(input.offers, input.price),
    })
    const made = catalog.model(input.id)
    return made ? done(modelView(made)) : notFound('model', input.id)
  },
  ofModel,
)

const offersOf = (offers: readonly z.infer<typeof offer>[], sale: UnitPrices): OfferDraft[] =>
  offers.map(({ provider, model, cost, priority, weight, context_tokens: contextTokens }) => ({
    providerId: provider,
    upstreamModel: model,
    priority,
    weight,
    contextTokens,
    cost: cost ?? sale,
  }))

/** Left out: as before, or what the model is sold for, and takes; which null is in any case. */
const offerChange = offer.extend({
  cost: price.nullable().optional(),
  context_tokens: offer.shape.context_tokens.unwrap().nullable().optional(),
})

/** Of a stored model, only what is named. What its offers cost stays where the same offer is there again. */
const modelChange = operation(
  z.strictObject({
    id: z.string(),
    price: price.optional(),
    ...modelLimitChanges,
    offers: z.array(offerChange).min(1).optional(),
  }),
  async ({ catalog }, { id: name, price: sale, offers, ...changed }): Promise<Result> => {
    const before = catalog.model(name)
    if (!before) return notFound('model', name)
    if (before.origin !== 'stored') return declaredElsewhere('model', name)
    const missing = offers?.find(({ provider }) => !catalog.provider(provider))
    if (missing) return notFound('provider', missing.provider)
    const stated = modelLimitsOf(changed)
    const limits = { ...before.limits, ...stated }
    const sold = sale ? { units: sale } : { units: before.sale.nanoPerMillion, tiers: before.sale.tiers }
    const problem = misfitOf(catalog, {
      kind: before.kind,
      // An upscaler that went since is no reason to refuse what does not name it.
      limits: { image: limits.image, ...stated },
      price: sold.units,
    })
    if (problem !== undefined) return invalid(problem)
    const known = (draft: z.infer<typeof offerChange>): Model['offers'][number] | undefined =>
      before.offers.find((each) => each.providerId === draft.provider && each.upstreamModel === draft.model)
    const asBefore = (each: Model['offers'][number]): OfferDraft => ({
      ...each,
      cost: each.cost.nanoPerMillion,
      costTiers: each.cost.tiers,
    })
    const wanted = offers?.map((draft): OfferDraft => {
      const old = known(draft)
      const { priority, weight, context_tokens: context } = draft
      const contextTokens = context === undefined ? old?.contextTokens : (context ?? undefined)
      if (old && draft.cost === undefined) return { ...asBefore(old), priority, weight, contextTokens }
      const cost = draft.cost ? { cost: draft.cost } : { cost: sold.units, costTiers: sold.tiers }
      return { providerId: draft.provider, upstreamModel: draft.model, priority, weight, contextTokens, ...cost }
    })
    await catalog.putModel({
      id: name,
      ownedBy: before.ownedBy,
      kind: before.kind,
      limits,
      price: sold.units,
      priceTiers: sold.tiers,
      offers: wanted ?? before.offers.map(asBefore),
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

/** Lets the offers of a provider that rest after failures be asked again at once. */
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
    if (provider.baseUrl === '') return refused('failed', say('sandbox_absent'))
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
      // What a vendor's key brings would be back at the next start.
      if (origin !== 'stored') return declaredElsewhere('model', name)
      return (await catalog.removeModel(name)) ? done({ id: name, removed: true }) : notFound('model', name)
    },
    ofModel,
  ),
}
