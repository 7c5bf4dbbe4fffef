/** Models that accounts buy below the cost of an offer because of prices of their own. */
import type { Catalog } from '../catalog/catalog.ts'
import { modelLosses, type Loss } from '../domain/below-cost.ts'
import type { Model, Offer } from '../domain/catalog.ts'
import { inTurns } from '../lib/runtime/end-of-tick.ts'

/** With some hundred models, so many accounts take about 10 ms. */
const ACCOUNTS_AT_ONCE = 100

type AccountLoss = { readonly model: Model; readonly offer: Offer; readonly loss: Loss }

type PriceSource = Pick<Catalog, 'model' | 'models' | 'priced'>

/** The losses of one account, of one model or of all. The model's own price is not among them. */
export function accountLosses(catalog: PriceSource, accountId: string, modelId?: string): readonly AccountLoss[] {
  const one = modelId === undefined ? undefined : catalog.model(modelId)
  const models = modelId === undefined ? catalog.models() : one ? [one] : []
  return models.flatMap((model) => {
    const priced = catalog.priced(model, accountId)
    return priced === model ? [] : modelLosses(priced).map(({ offer, ...loss }) => ({ model: priced, offer, loss }))
  })
}

/** The ids of the models that each account buys below cost. Accounts with the same factor share the comparison. */
export async function accountsBelowCost(
  catalog: PriceSource & Pick<Catalog, 'accountPrices'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Map<Model, boolean>()
  const isLost = (model: Model): boolean => {
    const lost = known.get(model) ?? modelLosses(model).length > 0
    known.set(model, lost)
    return lost
  }
  const models = catalog.models()
  const accountIds = new Set(catalog.accountPrices().map(({ accountId }) => accountId))
  const found = new Map<string, readonly string[]>()
  for await (const part of inTurns([...accountIds], ACCOUNTS_AT_ONCE)) {
    for (const accountId of part) {
      const lost = models.flatMap((model) => {
        const priced = catalog.priced(model, accountId)
        return priced !== model && isLost(priced) ? [model.id] : []
      })
      if (lost.length > 0) found.set(accountId, lost)
    }
  }
  return found
}
