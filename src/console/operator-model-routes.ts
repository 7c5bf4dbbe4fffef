/** Models as operators manage them: offers, prices, limits. */
import { z } from 'zod'
import { modelKinds, type Model, type Offer } from '../domain/catalog.ts'
import {
  modelLimitChanges,
  modelLimitFields,
  operatorLimitsShape,
  operatorLimitsView,
} from '../vendors/model-limits.ts'
import { lossesOf } from '../domain/below-cost.ts'
import { priceGapsOf } from '../domain/image.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { healthy } from '../router/health.ts'
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
import { isServing } from '../admin/explain.ts'
import { answer, json, missing, route, type ConsoleRoute } from './route.ts'
import { finder, isoTime, listShapeOf, origin, pageIn, pageQuery, searchText, time } from './shapes.ts'
import { factsShape, factsView } from './model-shapes.ts'

const offerShape = z
  .strictObject({
    provider: z.string(),
    model: z.string(),
    priority: z.int(),
    weight: z.int(),
    context_tokens: z
      .int()
      .nullable()
      .meta({ description: 'the most tokens that it takes; null: the limit of the model' }),
    state: z.enum(['ready', 'resting', 'drained']),
    resting_until: time.nullable(),
    cost: cardShape,
    margin: marginShape,
    below_cost: z.array(lossShape).meta({ description: 'the units that are sold for less than this offer costs' }),
  })
  .meta({ id: 'Offer' })
const modelShape = z
  .strictObject({
    ...factsShape,
    ...operatorLimitsShape,
    origin,
    unpriced: z.array(z.string()).meta({ description: 'images without a price; requests for them are refused' }),
    offers: z.array(offerShape),
  })
  .meta({ id: 'RoutedModel' })

function offerView({ services }: ConsoleContext, { kind, sale }: Model, offer: Offer): z.infer<typeof offerShape> {
  const { restUntilMs } = services.health().get(offer.id) ?? healthy
  const isResting = restUntilMs > steadyNowMs()
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
  ...operatorLimitsView(model),
  origin: model.origin,
  unpriced: priceGapsOf(model),
  offers: model.offers.map((offer) => offerView(context, model, offer)),
})

const offerInput = z.strictObject({
  provider: z.string(),
  model: z.string().min(1).meta({ description: 'the name at the provider' }),
  cost: priceBody
    .optional()
    .meta({ description: "left out: the vendor's list price, or the sale price if no list has one" }),
  priority: z.int().min(0).default(0).meta({ description: 'offers with a lower number are tried first' }),
  weight: z.int().min(1).default(1).meta({ description: 'share among offers of one priority' }),
  context_tokens: z.int().min(1).optional().meta({
    description: 'the most tokens that it takes, input and output together; left out: the limit of the model',
  }),
})
const offerChange = offerInput.extend({
  cost: priceBody.nullable().optional().meta({
    description: 'left out: unchanged if the offer exists; null: the list price, else the sale price',
  }),
  context_tokens: z
    .int()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'left out: unchanged if the offer exists; null: the limit of the model' }),
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

export const operators: readonly ConsoleRoute[] = [
  route('GET', '/models', {
    access: 'operator',
    summary: 'List models with their offers, costs, margins and mark-ups.',
    query: z.strictObject({
      ...pageQuery,
      q: searchText.meta({ description: 'part of the id or of an alias, or the id of a provider' }),
    }),
    answer: listShapeOf(modelShape),
    run: ({ context, query }) => {
      const isFound = finder(query.q)
      const models = context.services.catalog
        .models()
        .filter(({ id, aliases = [], offers }) =>
          isFound([id, ...aliases, ...offers.map(({ providerId }) => providerId)]),
        )
      return json(pageIn(models, query, (model) => modelView(context, model), { order: 'named' }))
    },
  }),
  route('POST', '/models', {
    access: 'operator',
    summary:
      'Create a model or replace a stored one. Its tiers stay unless `above` is set. A changed price is a new card.',
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
    summary: 'Get one model.',
    answer: modelShape,
    run: ({ context, params }) => {
      const model = context.services.catalog.model(params.model)
      return model ? json(modelView(context, model)) : missing('model')
    },
  }),
  route('PATCH', '/models/{model}', {
    access: 'operator',
    summary:
      'Change the price, limits or offers of a stored model. What is left out stays, also tiers. Null removes a value.',
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
