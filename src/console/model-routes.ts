/** Models: for an account, those that it may use with their prices; for operators, also their offers and costs. */
import { z } from 'zod'
import { accountMayUse } from '../domain/account.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Model } from '../domain/catalog.ts'
import { aliasRoutes } from './alias-routes.ts'
import { accountIn } from './account-routes.ts'
import { basisOf, cardShape, cardView } from './price-view.ts'
import { explainRoute } from './explain-route.ts'
import { importRoute } from './import-route.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { json, missing, problem, route, type ConsoleRoute } from './route.ts'
import { listShapeOf, pageIn, wholeOf } from './shapes.ts'
import { publicShape, publicView, catalogShape, catalogView, modelQuery, sought } from './model-shapes.ts'
import { operators } from './operator-model-routes.ts'

const isForEverybody = ({ audience }: Model): boolean => audience === undefined

const publicModels = route('GET', '/public-models', {
  access: 'open',
  summary: 'List models and their prices without a sign-in, if the operator allows it (TOLLGATE_PUBLIC_MODELS).',
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
  summary: 'Get one model and its prices without a sign-in, if the operator allows it.',
  answer: catalogShape,
  run: ({ context, params }) => {
    if (context.facts.publicModels === 'hidden')
      return problem(401, 'not_signed_in', sayConsoleRefusal('models_hidden'))
    const model = context.services.catalog.model(params.model)
    return model && isForEverybody(model) ? json(catalogView(model)) : missing('model')
  },
})

const history = route('GET', '/models/{model}/prices', {
  access: 'operator',
  summary: 'List all price cards that a model and its offers ever had, newest first.',
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
  summary: 'List the models that an account may use, with its prices.',
  query: modelQuery,
  answer: listShapeOf(publicShape),
  run: (call) => {
    const account = accountIn(call)
    const { context, query } = call
    const models = context.services.catalog.models().filter(sought(query))
    const own = models
      .filter((model) => accountMayUse(account, model))
      .map((model) => context.services.catalog.priced(model, account.id))
    return json(pageIn(own, query, publicView, { order: 'named' }))
  },
})

const accountModel = route('GET', '/accounts/{account}/models/{model}', {
  access: 'account_read',
  summary: 'Get one model, with its earlier sale prices.',
  answer: publicShape.extend({ price_history: z.array(cardShape) }).meta({ id: 'ModelDetail' }),
  run: async (call) => {
    const account = accountIn(call)
    const model = call.context.services.catalog.model(call.params.model)
    if (!model || !accountMayUse(account, model)) return missing('model')
    const { catalog } = call.context.services
    const priced = catalog.priced(model, account.id)
    return json({ ...publicView(priced), price_history: await soldCards(catalog, account.id, priced) })
  },
})

/** The earlier prices on the same basis as the price of now. At a factor, only the price of now is known. */
async function soldCards(catalog: Catalog, accountId: string, { id, sale }: Model) {
  const { basis } = basisOf(sale)
  if (basis === 'factor') return [cardView(sale)]
  if (basis === 'model') {
    const cards = await catalog.priceHistory(id)
    return cards.filter(({ subject }) => subject === 'model').map(({ card }) => cardView(card))
  }
  const own = await catalog.accountPriceHistory(accountId)
  return own.flatMap(({ modelId, value }) => (modelId === id && value.kind === 'card' ? [cardView(value.card)] : []))
}

export const modelRoutes: readonly ConsoleRoute[] = [
  ...operators,
  ...aliasRoutes,
  explainRoute,
  history,
  importRoute,
  accountModels,
  accountModel,
  publicModels,
  publicModel,
]
