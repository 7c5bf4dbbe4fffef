/** What an import of list prices does to accounts with prices of their own. */
import { offerId, type Catalog } from '../catalog/catalog.ts'
import type { Account } from '../domain/account.ts'
import { modelLosses } from '../domain/below-cost.ts'
import type { Model, ModelDraft } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import { formatFactor } from '../domain/price-factor.ts'
import { inTurns } from '../lib/runtime/end-of-tick.ts'
import type { Change } from '../prices/import-plan.ts'
import { lossView } from './price-view.ts'

const NAMES_MAX = 5

/** The model that a draft makes. Its cards have no ids yet. */
const modelAfter = (draft: ModelDraft): Model => ({
  id: draft.id,
  ownedBy: draft.ownedBy ?? '',
  createdAtMs: 0,
  kind: draft.kind ?? 'text',
  limits: { ...defaultModelLimits, ...draft.limits },
  origin: 'stored',
  sale: { id: 0, effectiveFromMs: 0, nanoPerMillion: draft.price, tiers: draft.priceTiers ?? [] },
  offers: draft.offers.map((offer) => ({
    ...offer,
    id: offerId(draft.id, offer),
    modelId: draft.id,
    cost: { id: 0, effectiveFromMs: 0, nanoPerMillion: offer.cost, tiers: offer.costTiers ?? [] },
  })),
})

/**
 * Prices of accounts that the import does not change or that it makes a loss: each own card of a changed model, and
 * each factor at which the model would be sold below cost. Accounts with one factor share a line.
 */
export async function importEffects(
  catalog: Catalog,
  accounts: readonly Account[],
  changes: readonly Change[],
): Promise<readonly object[]> {
  const own = new Set(catalog.accountPrices().map(({ accountId }) => accountId))
  const customers = accounts.filter(({ id }) => own.has(id))
  if (customers.length === 0) return []
  const effects: object[] = []
  // Ten thousand customers take 10 ms for each model.
  for await (const part of inTurns(changes, 1)) {
    for (const { draft } of part) effects.push(...effectsOf(catalog, draft, customers))
  }
  return effects
}

function effectsOf(catalog: Catalog, draft: ModelDraft, customers: readonly Account[]): readonly object[] {
  const after = modelAfter(draft)
  const byPrice = Map.groupBy(customers, ({ id }) => catalog.priced(after, id))
  return [...byPrice].flatMap(([priced, payers]) => {
    if (priced === after) return []
    const losses = modelLosses(priced)
    const { factor } = priced.sale
    if (factor !== undefined && losses.length === 0) return []
    return [
      {
        model: draft.id,
        kind: factor === undefined ? 'card' : 'factor',
        factor: factor === undefined ? null : formatFactor(factor),
        accounts: payers.slice(0, NAMES_MAX).map(({ name }) => name),
        accounts_total: payers.length,
        below_cost: losses.map(({ offer, ...loss }) => ({
          offer: `${offer.providerId}/${offer.upstreamModel}`,
          ...lossView(loss),
        })),
      },
    ]
  })
}
