/** Models: what an account may use and what it costs; and for operators what stands behind them. */
import { z } from 'zod'
import { accountMayUse } from '../domain/account.ts'
import { modelKinds, type Model, type Offer } from '../domain/catalog.ts'
import { firstEventTimeoutOf } from '../vendors/first-token-timeout.ts'
import { modelLimitChanges, modelLimitFields } from '../vendors/model-limits.ts'
import { lossesOf } from '../domain/below-cost.ts'
import { priceGapsOf } from '../domain/image.ts'
import { healthy } from '../router/health.ts'
import { accountIn } from './account-routes.ts'
import type { ConsoleContext } from './context.ts'
import {
  cardShape,
  cardView,
  lossShape,
  consoleLossView,
  marginOf,
  marginShape,
  priceBody,
  pricesOfBody,
} from './price-view.ts'
import { explainRoute, isServing } from './explain-route.ts'
import { importRoute } from './import-route.ts'
import { imageFactsShape, imageFactsView, videoFactsShape, videoFactsView, withoutUpscaler } from './model-facts.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { answer, json, missing, problem, route, type ConsoleRoute } from './route.ts'
import { finder, isoTime, listShapeOf, origin, pageIn, pageQuery, searchText, time, wholeOf } from './shapes.ts'

const factsShape = {
  id: z.string(),
  kind: z.enum(modelKinds),
  owned_by: z.string(),
  context_tokens: z.int().nullable(),
  output_tokens_max: z.int().nullable(),
  dimensions: z.int().nullable(),
  dimensions_adjustable: z.boolean(),
  takes_media: z.boolean(),
  takes_pictures: z.boolean(),
  image: imageFactsShape.nullable().meta({ description: 'what may be asked of an image model' }),
  video: videoFactsShape.nullable().meta({ description: 'what may be asked of a video model' }),
  price: cardShape,
  created_at: time,
}
const publicShape = z
  .strictObject({
    ...factsShape,
    available: z.boolean().meta({ description: 'somebody offers it at the moment' }),
  })
  .meta({ id: 'Model' })

const factsView = (model: Model) => ({
  id: model.id,
  kind: model.kind,
  owned_by: model.ownedBy,
  context_tokens: model.limits.contextTokens ?? null,
  output_tokens_max: model.limits.outputTokensMax ?? null,
  dimensions: model.limits.dimensions ?? null,
  dimensions_adjustable: model.limits.dimensionsAdjustable,
  takes_media: model.limits.mediaInput === 'taken',
  takes_pictures: model.limits.pictureInput === 'taken',
  image: model.kind === 'image' ? imageFactsView(model.limits.image) : null,
  video: model.kind === 'video' ? videoFactsView(model.limits.video) : null,
  price: cardView(model.sale),
  created_at: isoTime(model.createdAtMs),
})

/** For whoever pays. */
function publicView(model: Model): z.infer<typeof publicShape> {
  const { video, ...facts } = factsView(model)
  return { ...facts, video: video && withoutUpscaler(video), available: model.offers.some(isServing) }
}

/** For whoever comes by: what a model is and costs them. Nothing of vendors, whose names can be those of its maker. */
const catalogShape = publicShape.omit({ owned_by: true, created_at: true }).meta({ id: 'PublicModel' })

function catalogView(model: Model): z.infer<typeof catalogShape> {
  const { owned_by: _, created_at: __, ...shown } = publicView(model)
  return shown
}

const modelQuery = z.strictObject({
  ...pageQuery,
  q: searchText.meta({ description: 'part of the id' }),
  kind: z.enum(modelKinds).optional(),
})

/** Whether a model is one that is looked for. */
function sought({ q, kind }: Partial<z.infer<typeof modelQuery>>): (model: Model) => boolean {
  const isFound = finder(q)
  return (model) => (kind === undefined || model.kind === kind) && isFound([model.id])
}

const isForEverybody = ({ audience }: Model): boolean => audience === undefined

const publicModels = route('GET', '/public-models', {
  access: 'open',
  summary:
    'Models and their prices for whoever is not signed in, where the operator allows it (TOLLGATE_PUBLIC_MODELS).',
  query: modelQuery,
  answer: listShapeOf(catalogShape),
  run: ({ context, query }) => {
    if (context.facts.publicModels === 'hidden')
      return problem(401, 'not_signed_in', sayConsoleRefusal('models_hidden'))
    const shown = context.services.catalog.models().filter(isForEverybody)
    return json(pageIn(shown.filter(sought(query)), query, catalogView, { order: 'named' }))
  },
})

const publicModel = route('GET', '/public-models/{model}', {
  access: 'open',
  summary: 'One model and its prices for whoever is not signed in, where the operator allows it.',
  answer: catalogShape,
  run: ({ context, params }) => {
    if (context.facts.publicModels === 'hidden')
      return problem(401, 'not_signed_in', sayConsoleRefusal('models_hidden'))
    const model = context.services.catalog.model(params.model)
    return model && isForEverybody(model) ? json(catalogView(model)) : missing('model')
  },
})

const offerShape = z
  .strictObject({
    provider: z.string(),
    model: z.string(),
    priority: z.int(),
    weight: z.int(),
    context_tokens: z.int().nullable().meta({ description: 'how many tokens it takes; null: as many as the model' }),
    state: z.enum(['ready', 'resting', 'drained']),
    resting_until: time.nullable(),
    cost: cardShape,
    margin: marginShape,
    below_cost: z.array(lossShape).meta({ description: 'what the model is sold for less than this offer costs' }),
  })
  .meta({ id: 'Offer' })
/** The limits that are the operator's own affair. */
const ownLimitsShape = {
  output_tokens_default: z
    .int()
    .nullable()
    .meta({ description: 'the output limit set where the client sets none; null: none is set' }),
  output_tokens_min: z.int().meta({ description: 'with less affordable a request without a limit is refused' }),
  image_tokens_max: z.int().meta({ description: 'the most that an image in a request counts as' }),
  first_event_timeout_ms: z.int().meta({ description: 'of models that think in silence 300 s, unless it is said' }),
}
const modelShape = z
  .strictObject({
    ...factsShape,
    ...ownLimitsShape,
    origin,
    unpriced: z.array(z.string()).meta({ description: 'images that have no price: requests for them are refused' }),
    offers: z.array(offerShape),
  })
  .meta({ id: 'RoutedModel' })

function offerView({ services }: ConsoleContext, { kind, sale }: Model, offer: Offer): z.infer<typeof offerShape> {
  const { restUntilMs } = services.health().get(offer.id) ?? healthy
  const isResting = restUntilMs > Date.now()
  return {
    provider: offer.providerId,
    model: offer.upstreamModel,
    priority: offer.priority,
    weight: offer.weight,
    context_tokens: offer.contextTokens ?? null,
    state: !isServing(offer) ? 'drained' : isResting ? 'resting' : 'ready',
    resting_until: isResting ? isoTime(restUntilMs) : null,
    cost: cardView(offer.cost),
    margin: marginOf(sale, offer.cost),
    below_cost: lossesOf(kind, sale, offer.cost).map(consoleLossView),
  }
}

const modelView = (context: ConsoleContext, model: Model): z.infer<typeof modelShape> => ({
  ...factsView(model),
  output_tokens_default: model.limits.outputTokensDefault ?? null,
  output_tokens_min: model.limits.outputTokensMin,
  image_tokens_max: model.limits.imageTokensMax,
  first_event_timeout_ms: firstEventTimeoutOf(model),
  origin: model.origin,
  unpriced: priceGapsOf(model),
  offers: model.offers.map((offer) => offerView(context, model, offer)),
})

const offerInput = z.strictObject({
  provider: z.string(),
  model: z.string().min(1).meta({ description: 'as the provider calls it' }),
  cost: priceBody
    .optional()
    .meta({ description: "left out: the vendor's list price, or what the model is sold for where no list has one" }),
  priority: z.int().min(0).default(0).meta({ description: 'lower is tried first' }),
  weight: z.int().min(1).default(1).meta({ description: 'share among offers of one priority' }),
  context_tokens: z
    .int()
    .min(1)
    .optional()
    .meta({ description: 'tokens it takes, input and output together; left out: as many as the model' }),
})
const offerChange = offerInput.extend({
  cost: priceBody.nullable().optional().meta({
    description: 'left out: as before, where the offer is there; null: the list price, or what the model is sold for',
  }),
  context_tokens: z
    .int()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'left out: as before, where the offer is there; null: as many as the model' }),
})
const offersOf = (offers: readonly z.infer<typeof offerChange>[]): object[] =>
  offers.map(({ cost, ...offer }) => ({
    ...offer,
    ...(cost === undefined ? {} : { cost: cost && pricesOfBody(cost) }),
  }))

const draft = z.strictObject({
  id: z.string(),
  kind: z.enum(modelKinds).optional(),
  owned_by: z.string().min(1).optional(),
  ...modelLimitFields,
  price: priceBody,
  offers: z.array(offerInput).min(1),
})

const operators: readonly ConsoleRoute[] = [
  route('GET', '/models', {
    access: 'operator',
    summary: 'All models with their offers, costs, margins and mark-ups.',
    query: z.strictObject({ ...pageQuery, q: searchText.meta({ description: 'part of the id, or a provider’s id' }) }),
    answer: listShapeOf(modelShape),
    run: ({ context, query }) => {
      const isFound = finder(query.q)
      const models = context.services.catalog
        .models()
        .filter(({ id, offers }) => isFound([id, ...offers.map(({ providerId }) => providerId)]))
      return json(pageIn(models, query, (model) => modelView(context, model), { order: 'named' }))
    },
  }),
  route('POST', '/models', {
    access: 'operator',
    summary:
      'Make a model, or replace a stored one, whose tiers stay unless `above` is named. A changed price is a new card.',
    body: draft,
    answer: modelShape,
    run: async ({ context, operate, body }) => {
      const { price, offers, ...rest } = body
      const result = await operate('model.add', { ...rest, price: pricesOfBody(price), offers: offersOf(offers) })
      return answer(result, () => modelOf(context, body.id))
    },
  }),
  route('GET', '/models/{model}', {
    access: 'operator',
    summary: 'One model.',
    answer: modelShape,
    run: ({ context, params }) => {
      const model = context.services.catalog.model(params.model)
      return model ? json(modelView(context, model)) : missing('model')
    },
  }),
  route('PATCH', '/models/{model}', {
    access: 'operator',
    summary:
      'Change price, limits or offers of a stored model. What is left out stays, tiers, too; null takes it back.',
    body: z.strictObject({
      price: priceBody.optional(),
      ...modelLimitChanges,
      offers: z.array(offerChange).min(1).optional(),
    }),
    answer: modelShape,
    run: async ({ context, operate, params, body: { price, offers, ...limits } }) => {
      if (!context.services.catalog.model(params.model)) return missing('model')
      const result = await operate('model.change', {
        id: params.model,
        ...limits,
        ...(price === undefined ? {} : { price: pricesOfBody(price) }),
        ...(offers === undefined ? {} : { offers: offersOf(offers) }),
      })
      return answer(result, () => modelOf(context, params.model))
    },
  }),
  route('DELETE', '/models/{model}', {
    access: 'operator',
    summary: 'Remove a stored model. Its prices and requests stay on record.',
    answer: z.strictObject({ id: z.string(), removed: z.boolean() }),
    run: async ({ context, operate, params: { model: id } }) => {
      if (!context.services.catalog.model(id)) return missing('model')
      return answer(await operate('model.remove', { id }), (value) => value)
    },
  }),
]

const modelOf = (context: ConsoleContext, id: string): unknown => {
  const model = context.services.catalog.model(id)
  return model && modelView(context, model)
}

const history = route('GET', '/models/{model}/prices', {
  access: 'operator',
  summary: 'All price cards a model and its offers ever had, the newest first.',
  answer: wholeOf(cardShape.extend({ of: z.string().meta({ description: 'sale, or provider/model of an offer' }) })),
  run: async ({ context, params }) => {
    const cards = await context.services.catalog.priceHistory(params.model)
    if (cards.length === 0) return missing('model')
    const nameOf = (subject: string, id: string): string =>
      subject === 'model' ? 'sale' : id.slice(params.model.length + 1)
    return json({
      data: cards.map(({ subject, subjectId, card }) => ({ of: nameOf(subject, subjectId), ...cardView(card) })),
    })
  },
})

const accountModels = route('GET', '/accounts/{account}/models', {
  access: 'account_read',
  summary: 'The models an account may use, with the prices it pays.',
  query: modelQuery,
  answer: listShapeOf(publicShape),
  run: (call) => {
    const account = accountIn(call)
    const { context, query } = call
    const models = context.services.catalog.models().filter(sought(query))
    const own = models.filter((model) => accountMayUse(account, model))
    return json(pageIn(own, query, publicView, { order: 'named' }))
  },
})

const accountModel = route('GET', '/accounts/{account}/models/{model}', {
  access: 'account_read',
  summary: 'One model, with the prices it was sold for before.',
  answer: publicShape.extend({ price_history: z.array(cardShape) }).meta({ id: 'ModelDetail' }),
  run: async (call) => {
    const account = accountIn(call)
    const model = call.context.services.catalog.model(call.params.model)
    if (!model || !accountMayUse(account, model)) return missing('model')
    const cards = await call.context.services.catalog.priceHistory(model.id)
    const sold = cards.filter(({ subject }) => subject === 'model').map(({ card }) => cardView(card))
    return json({ ...publicView(model), price_history: sold })
  },
})

export const modelRoutes: readonly ConsoleRoute[] = [
  ...operators,
  explainRoute,
  history,
  importRoute,
  accountModels,
  accountModel,
  publicModels,
  publicModel,
]
