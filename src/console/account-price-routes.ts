/** What accounts pay: factors and cards of their own, and what each offer earns at them. */
import { z } from 'zod'
import { sells, type AccountPrice } from '../catalog/account-prices.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { lossesOf } from '../domain/below-cost.ts'
import type { Model } from '../domain/catalog.ts'
import { formatFactor, scaledCard } from '../domain/price-factor.ts'
import type { ConsoleContext } from './context.ts'
import {
  basisOf,
  basisShape,
  cardShape,
  cardView,
  consoleLossView,
  lossShape,
  marginOf,
  marginShape,
  priceBody,
  pricesOfBody,
} from './price-view.ts'
import { answer, json, missing, route, type ConsoleRoute } from './route.ts'
import { isoTime, listShapeOf, pageIn, pageQuery, time, wholeOf } from './shapes.ts'

const ownPriceShape = z
  .strictObject({
    model: z.string().nullable().meta({ description: 'null: every model without a price of its own in this account' }),
    basis: basisShape.exclude(['model']),
    factor: z.string().nullable().meta({ description: 'of the price of the model' }),
    effective_from: time,
    in_force: z.boolean().meta({ description: 'false: there is no model that it fits' }),
    price: cardShape.nullable().meta({ description: 'what it comes to; null: for all models, or not in force' }),
  })
  .meta({ id: 'AccountPrice' })

function ownPriceView(catalog: Catalog, { modelId, effectiveFromMs, value }: AccountPrice) {
  const model = modelId === undefined ? undefined : catalog.model(modelId)
  const isInForce = modelId === undefined || (model !== undefined && (value.kind !== 'card' || sells(value, model)))
  const card =
    value.kind === 'card' ? value.card : value.kind === 'factor' && model && scaledCard(model.sale, value.factor)
  return {
    model: modelId ?? null,
    basis: value.kind === 'card' ? ('card' as const) : ('factor' as const),
    factor: value.kind === 'factor' ? formatFactor(value.factor) : null,
    effective_from: isoTime(effectiveFromMs),
    in_force: isInForce,
    price: isInForce && card ? cardView(card) : null,
  }
}

const listOf = ({ services: { catalog } }: ConsoleContext, accountId: string) =>
  catalog.accountPrices(accountId).map((entry) => ownPriceView(catalog, entry))

const payerShape = z
  .strictObject({
    account: z.strictObject({ id: z.string(), name: z.string() }),
    basis: basisShape.exclude(['model']),
    factor: z.string().nullable(),
    price: cardShape,
    offers: z.array(
      z.strictObject({
        provider: z.string(),
        model: z.string(),
        margin: marginShape,
        below_cost: z.array(lossShape),
      }),
    ),
  })
  .meta({ id: 'ModelPayer' })

function payerView({ kind, sale, offers }: Model, account: { readonly id: string; readonly name: string }) {
  return {
    account: { id: account.id, name: account.name },
    ...(basisOf(sale) as { basis: 'factor' | 'card'; factor: string | null }),
    price: cardView(sale),
    offers: offers.map(({ providerId, upstreamModel, cost }) => ({
      provider: providerId,
      model: upstreamModel,
      margin: marginOf(sale, cost),
      below_cost: lossesOf(kind, sale, cost).map(consoleLossView),
    })),
  }
}

const change = z.strictObject({
  model: z.string().min(1).nullable().meta({ description: 'null: every model without a price of its own' }),
  factor: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'such as 0.9; null: the price ends, and the price of the model applies again' }),
  price: priceBody.optional().meta({ description: 'prices of its own for the one model, stated whole' }),
})

const changedShape = z.strictObject({
  data: z.array(ownPriceShape),
  below_cost_total: z.int().meta({ description: 'the number of prices at which an offer costs more' }),
})

export const accountPriceRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts/{account}/prices', {
    access: 'account_read',
    summary: 'List the prices of an account that differ from the prices of the models.',
    answer: wholeOf(ownPriceShape),
    run: ({ context, params }) => json({ data: listOf(context, params.account) }),
  }),
  route('PUT', '/accounts/{account}/prices', {
    access: 'operator',
    summary: 'Set what an account pays for all models or for one, or end it. Past charges do not change.',
    body: change,
    answer: changedShape,
    run: async ({ context, operate, params, body: { model, factor, price } }) => {
      const subject = { account: params.account, ...(model === null ? {} : { model }) }
      const result =
        factor === null && price === undefined
          ? await operate('account.price_end', subject)
          : await operate('account.price', {
              ...subject,
              ...(factor === undefined ? {} : { factor }),
              ...(price === undefined ? {} : { price: pricesOfBody(price) }),
            })
      return answer(result, (value: { readonly below_cost_total: number }) => ({
        data: listOf(context, params.account),
        below_cost_total: value.below_cost_total,
      }))
    },
  }),
  route('GET', '/models/{model}/account-prices', {
    access: 'operator',
    summary: 'List the accounts that pay another price for a model, with the margin of each offer at it.',
    query: z.strictObject(pageQuery),
    answer: listShapeOf(payerShape),
    run: ({ context: { services }, params, query }) => {
      const { catalog, accounts } = services
      const model = catalog.model(params.model)
      if (!model) return missing('model')
      const payers = new Set(catalog.accountPrices().map(({ accountId }) => accountId))
      const own = accounts.list().filter(({ id }) => payers.has(id) && catalog.priced(model, id) !== model)
      return json(
        pageIn(own, query, (account) => payerView(catalog.priced(model, account.id), account), { order: 'newest' }),
      )
    },
  }),
]
