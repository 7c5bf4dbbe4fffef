/** Everything that an operator can do, by name. The control socket, the CLI and the console's API run these. */
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { priceGapsOf } from '../domain/image.ts'
import { accountsBelowCost } from './account-losses.ts'
import { aliasOperations } from './alias-operations.ts'
import { accountOperations } from './account-operations.ts'
import { accountPriceOperations } from './account-price-operations.ts'
import { keyOperations } from './key-operations.ts'
import { requestOperations } from './request-operations.ts'
import type { Actor } from '../records/audit.ts'
import { strayModels } from './allowed-models.ts'
import { codeOperations } from './code-operations.ts'
import { modelOperations } from './model-operations.ts'
import { providerKeyOperations } from './provider-key-operations.ts'
import { providerOperations } from './provider-operations.ts'
import { priceOperations } from './price-operations.ts'
import { managementKeyOperations, userOperations } from './user-operations.ts'
import { videoOperations } from './video-operations.ts'
import { modelLosses } from '../domain/below-cost.ts'
import { lossView } from './price-view.ts'
import { misfitIn, operationRules, wordsForNull } from './rules.ts'
import {
  done,
  notFound,
  operation,
  refused,
  type BackupRequest,
  type AdminServices,
  type Operation,
  type Result,
} from './operation.ts'
import { safeParse } from '../lib/json/safe-parse.ts'

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

const operations: Readonly<Record<string, Operation>> = {
  ...accountOperations,
  ...accountPriceOperations,
  ...keyOperations,
  ...requestOperations,
  ...providerOperations,
  ...providerKeyOperations,
  ...modelOperations,
  ...aliasOperations,
  ...priceOperations,
  ...videoOperations,
  ...codeOperations,
  ...userOperations,
  ...managementKeyOperations,
  'ledger.verify': ledgerVerify,
  backup,
  doctor,
}

export type { BackupRequest, AdminServices, Result }

const COMMAND: Actor = { kind: 'command' }

/** Runs an operation by name on unchecked input. A change is in the audit log before it is made. */
export async function runOperation(
  services: AdminServices,
  name: string,
  input: unknown,
  actor: Actor = COMMAND,
): Promise<Result> {
  const found = Object.hasOwn(operations, name) ? operations[name] : undefined
  if (!found) return notFound('operation', name)
  const checked = safeParse(found.input, input, { error: wordsForNull })
  if (!checked.success) return refused('invalid_input', misfitIn(checked.error))
  const data = checked.data as never
  const { changes } = found
  const subject = changes?.subject(data)
  if (subject === undefined) return found.run(services, data, actor)
  const view = (): unknown => changes?.view?.(services, data)
  const note = { actor, action: name, subject, input, before: view() }
  const id = await services.audit.begin(note)
  const result = await found.run(services, data, actor)
  await services.audit.end(
    id,
    result.ok
      ? { action: name, outcome: 'done', after: changes?.made?.(result.value) ?? view(), subject: idOf(result.value) }
      : { action: name, outcome: result.code },
  )
  return result
}

function idOf(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
  return typeof id === 'string' ? id : undefined
}
