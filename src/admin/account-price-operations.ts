/** What accounts pay: factors and cards of their own. */
import { z } from 'zod'
import { sells, type AccountPrice, type AccountPriceDraft } from '../catalog/account-prices.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Account } from '../domain/account.ts'
import { paintsInTurn } from '../domain/catalog.ts'
import { priceGapsOf } from '../domain/image.ts'
import { formatFactor, parseFactor, scaledCard } from '../domain/price-factor.ts'
import { accountLosses } from './account-losses.ts'
import { reference, withAccount } from './account-operations.ts'
import { misfitOf } from './model-operations.ts'
import {
  declaredElsewhere,
  done,
  notFound,
  operation,
  refused,
  type AdminServices,
  type Changes,
  type Operation,
  type OperationRefusal,
  type Result,
} from './operation.ts'
import { isRefused, priceInput, pricesOf, type PriceInput } from './price-input.ts'
import { lossView, priceView } from './price-view.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'

/** Further losses are counted but not listed. */
const LOSSES_MAX = 100

const factor = z.string().transform((text, context) => {
  const read = parseFactor(text)
  if (read !== undefined) return read
  context.addIssue({ code: 'custom', message: operationRules.factor })
  return z.NEVER
})

/** Left out: all models of the account that have no price of their own in it. */
const model = z.string().min(1).optional()

/** Whether the price decides what the account pays for a model that exists. */
function isInForce(catalog: Catalog, { modelId, value }: AccountPrice): boolean {
  if (modelId === undefined) return true
  const known = catalog.model(modelId)
  return known !== undefined && (value.kind !== 'card' || sells(value, known))
}

/** A price of an account. `price` is what it comes to for its one model. */
function accountPriceView(catalog: Catalog, entry: AccountPrice): object {
  const { id, modelId, effectiveFromMs, value } = entry
  const known = modelId === undefined ? undefined : catalog.model(modelId)
  const card =
    value.kind === 'card' ? value.card : value.kind === 'factor' && known && scaledCard(known.sale, value.factor)
  return {
    entry: id,
    model: modelId ?? null,
    /** `none`: the price before ended. */
    kind: value.kind,
    factor: value.kind === 'factor' ? formatFactor(value.factor) : null,
    effective_from: new Date(effectiveFromMs).toISOString(),
    in_force: isInForce(catalog, entry),
    price: card ? priceView(card) : null,
  }
}

const pricesView = (catalog: Catalog, accountId: string): readonly object[] =>
  catalog.accountPrices(accountId).map((entry) => accountPriceView(catalog, entry))

/** The account with its prices, and what the changed one sells below cost. */
function changedView(catalog: Catalog, { id, name }: Account, modelId: string | undefined): object {
  const losses = accountLosses(catalog, id, modelId)
  const changed = modelId === undefined ? undefined : catalog.model(modelId)
  return {
    id,
    name,
    prices: pricesView(catalog, id),
    below_cost: losses.slice(0, LOSSES_MAX).map(({ model: sold, offer, loss }) => ({
      model: sold.id,
      offer: `${offer.providerId}/${offer.upstreamModel}`,
      ...lossView(loss),
    })),
    below_cost_total: losses.length,
    /** What the model can make but has no price for in this account. Such requests are refused. */
    unpriced: changed ? priceGapsOf(catalog.priced(changed, id)) : [],
  }
}

const ofAccount: Changes<{ account: string }> = {
  subject: ({ account }) => account,
  view: ({ accounts, catalog }, { account }) => {
    const found = accounts.find(account)
    return found && { id: found.id, name: found.name, prices: pricesView(catalog, found.id) }
  },
  made: (value) => {
    const { id, name, prices } = value as { id: string; name: string; prices: unknown }
    return { id, name, prices }
  },
}

/** The prices of an account may be changed here unless the declaration states them. */
const withStoredAccount = (
  services: AdminServices,
  wanted: string,
  use: (account: Account) => Promise<Result>,
): Promise<Result> =>
  withAccount(services, wanted, (account) =>
    account.origin === 'declared' ? declaredElsewhere('account', wanted) : use(account),
  )

type PriceRequest = {
  readonly model?: string | undefined
  readonly factor?: bigint | undefined
  readonly price?: PriceInput | undefined
}

function draftOf(catalog: Catalog, wanted: PriceRequest): AccountPriceDraft | OperationRefusal {
  const { model: named, factor: share, price } = wanted
  const sold = named === undefined ? undefined : catalog.modelNamed(named)
  if (named !== undefined && !sold) return notFound('model', named)
  const modelId = sold?.id
  if ((share === undefined) === (price === undefined)) return refused('invalid_input', sayRefusal('factor_or_price'))
  if (share !== undefined) return { modelId, value: { kind: 'factor', factor: share } }
  if (!sold || !price) return { ...refused('invalid_input', sayRefusal('card_needs_model')), param: 'model' }
  const prices = pricesOf(price, { kind: sold.kind, paintsInTurn: paintsInTurn(sold) }, { at: 'price' })
  if (isRefused(prices)) return prices
  // The kind of model decides what a price must not lack, as for the model's own price.
  const misfit = misfitOf(catalog, { kind: sold.kind, limits: { image: sold.limits.image }, price: prices.units })
  if (misfit !== undefined) return refused('invalid_input', misfit)
  return { modelId, value: { kind: 'card', soldAs: sold.kind, ...prices } }
}

export const accountPriceOperations: Readonly<Record<string, Operation>> = {
  /** Sets what an account pays: a factor for all models or one, or prices of its own for one. They are stated whole. */
  'account.price': operation(
    z.strictObject({ account: reference, model, factor: factor.optional(), price: priceInput.optional() }),
    (services, { account: wanted, ...price }) =>
      withStoredAccount(services, wanted, async (account) => {
        const { catalog } = services
        const draft = draftOf(catalog, price)
        if ('ok' in draft) return draft
        await catalog.putAccountPrices(account.id, [draft], 'stay')
        return done(changedView(catalog, account, draft.modelId))
      }),
    ofAccount,
  ),
  /** Ends a price of an account. The one for all models, or the model's own, is in force again. */
  'account.price_end': operation(
    z.strictObject({ account: reference, model }),
    (services, { account: wanted, model: named }) =>
      withStoredAccount(services, wanted, async (account) => {
        const { catalog } = services
        const own = catalog.accountPrices(account.id)
        // The model of a price may be gone. An alias is looked up if there is no price under the name itself.
        const isOfAlias = named !== undefined && !own.some((entry) => entry.modelId === named)
        const modelId = isOfAlias ? (catalog.modelNamed(named)?.id ?? named) : named
        if (!own.some((entry) => entry.modelId === modelId)) return notFound('price', named ?? 'all models')
        await catalog.putAccountPrices(account.id, [{ modelId, value: { kind: 'none' } }], 'stay')
        return done(changedView(catalog, account, modelId))
      }),
    ofAccount,
  ),
  /** The prices of an account in force, or all that it ever had, newest first. */
  'account.prices': operation(
    z.strictObject({ account: reference, history: z.boolean().default(false) }),
    async ({ catalog, accounts }, { account: wanted, history }): Promise<Result> => {
      const account = accounts.find(wanted)
      if (!account) return notFound('account', wanted)
      if (!history) return done(pricesView(catalog, account.id))
      const entries = await catalog.accountPriceHistory(account.id)
      return done(entries.map((entry) => accountPriceView(catalog, entry)))
    },
  ),
}
