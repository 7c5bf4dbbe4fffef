/** Everything that an operator can do, by name. The control socket, the CLI and the console's API run these. */
import { safeParse } from '../lib/json/safe-parse.ts'
import type { Actor } from '../records/audit.ts'
import { notFound, refused, type AdminServices, type BackupRequest, type Operation, type Result } from './operation.ts'
import { misfitIn, wordsForNull } from './rules.ts'

type Operations = Readonly<Record<string, Operation>>

const accounts = async (): Promise<Operations> => {
  const [{ accountOperations }, { accountPriceOperations }] = await Promise.all([
    import('./account-operations.ts'),
    import('./account-price-operations.ts'),
  ])
  return { ...accountOperations, ...accountPriceOperations }
}

const providers = async (): Promise<Operations> => {
  const [{ providerOperations }, { providerKeyOperations }] = await Promise.all([
    import('./provider-operations.ts'),
    import('./provider-key-operations.ts'),
  ])
  return { ...providerOperations, ...providerKeyOperations }
}

const maintenance = async (): Promise<Operations> => (await import('./maintenance-operations.ts')).maintenanceOperations

/** By the first word of their names. Each is loaded when it is needed: to make all schemas takes 100 ms. */
const operations = new Map<string, () => Promise<Operations>>([
  ['account', accounts],
  ['key', async () => (await import('./key-operations.ts')).keyOperations],
  ['request', async () => (await import('./request-operations.ts')).requestOperations],
  ['provider', providers],
  ['model', async () => (await import('./model-operations.ts')).modelOperations],
  ['alias', async () => (await import('./alias-operations.ts')).aliasOperations],
  ['price', async () => (await import('./price-operations.ts')).priceOperations],
  ['video', async () => (await import('./video-operations.ts')).videoOperations],
  ['code', async () => (await import('./code-operations.ts')).codeOperations],
  ['user', async () => (await import('./user-operations.ts')).userOperations],
  ['management_key', async () => (await import('./user-operations.ts')).managementKeyOperations],
  ['ledger', maintenance],
  ['backup', maintenance],
  ['doctor', maintenance],
])

async function operationNamed(name: string): Promise<Operation | undefined> {
  const among = await operations.get(name.split('.', 1)[0] ?? '')?.()
  return among && Object.hasOwn(among, name) ? among[name] : undefined
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
  const found = await operationNamed(name)
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
