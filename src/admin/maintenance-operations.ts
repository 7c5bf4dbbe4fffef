/** What an operator does with the gateway as a whole: check it, verify its ledger, back it up. */
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { modelLosses } from '../domain/below-cost.ts'
import { priceGapsOf } from '../domain/image.ts'
import { accountsBelowCost } from './account-losses.ts'
import { strayModels } from './allowed-models.ts'
import { done, operation, type Operation } from './operation.ts'
import { lossView } from './price-view.ts'
import { operationRules } from './rules.ts'

const ledgerVerify = operation(z.strictObject({}), async ({ verify, accounts, ledger }) => {
  const startedMs = performance.now()
  const findings = await verify()
  const tookMs = Math.round(performance.now() - startedMs)
  return done({
    clean: findings.length === 0,
    findings,
    accounts: accounts.list().length,
    open_holds: ledger.openHolds(),
    took_ms: tookMs,
  })
})

const BELOW_COST_NAMED_MAX = 5

const doctor = operation(z.strictObject({}), async (services) => {
  const { status, ignoredProxies, verify, catalog, ledger, accounts, blobs } = services
  const findings = await verify()
  const unserved = catalog
    .models()
    .filter(({ offers }) => offers.length === 0)
    .map(({ id }) => id)
  return done({
    ...status(),
    accounts: accounts.list().length,
    providers: catalog.providers().length,
    models: catalog.models().length,
    models_reserved: catalog.models().filter(({ audience }) => audience !== undefined).length,
    models_without_offer: unserved,
    models_below_cost: catalog.models().flatMap((model) =>
      modelLosses(model).map(({ offer, ...loss }) => ({
        model: model.id,
        offer: `${offer.providerId}/${offer.upstreamModel}`,
        ...lossView(loss),
      })),
    ),
    accounts_below_cost: [...(await accountsBelowCost(catalog))].map(([id, models]) => ({
      account: accounts.find(id)?.name ?? id,
      models: models.slice(0, BELOW_COST_NAMED_MAX),
      total: models.length,
    })),
    models_with_gaps: catalog.models().flatMap((model) => {
      const gaps = priceGapsOf(model)
      return gaps.length === 0 ? [] : [{ id: model.id, gaps }]
    }),
    aliases_without_model: catalog
      .aliases()
      .filter(({ id, modelId }) => catalog.modelNamed(id)?.id !== modelId)
      .map(({ id, modelId }) => `${id} → ${modelId}`),
    unknown_models: strayModels({ accounts, catalog }),
    open_holds: ledger.openHolds(),
    ledger_clean: findings.length === 0,
    findings,
    ignored_proxies: ignoredProxies(),
    files: blobs.place,
    files_problem: (await blobs.examine()) ?? null,
  })
})

const backup = operation(
  z.strictObject({
    file: z.string().refine((path) => isAbsolute(path), operationRules.absolute_path),
    existing: z.enum(['kept', 'replaced']).default('kept'),
    secrets: z.enum(['included', 'left_out']).default('left_out'),
  }),
  (services, request) => services.backup(request),
)

export const maintenanceOperations: Readonly<Record<string, Operation>> = {
  'ledger.verify': ledgerVerify,
  backup,
  doctor,
}
