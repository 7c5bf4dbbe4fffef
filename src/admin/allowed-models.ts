/** Lists of the models that an account or a key may use. */
import { isEntryFor, type Account, type ApiKey } from '../domain/account.ts'
import { refused, type AdminServices, type OperationRefusal } from './operation.ts'
import { sayRefusal } from './refusals.ts'

/**
 * Refuses a list with a name that no model and no alias has, because that is a typing error. `before` is the current
 * list: names in it stay valid after their model is removed. A key's list may name models that its account may not use,
 * because a request needs the permission of both.
 */
export function strayModel(
  { catalog }: Pick<AdminServices, 'catalog'>,
  named: readonly string[] | null | undefined,
  before: readonly string[] = [],
): OperationRefusal | undefined {
  const stray = named?.find((name) => !before.includes(name) && !isNamed(catalog, name))
  if (stray === undefined) return undefined
  return { ...refused('invalid_input', sayRefusal('no_model', { name: stray })), param: 'models' }
}

/** The same for limits. Each is for one model, so none is for a wildcard. */
export function strayLimit(
  { catalog }: Pick<AdminServices, 'catalog'>,
  named: readonly string[],
  before: readonly string[] = [],
): OperationRefusal | undefined {
  const stray = named.find((name) => !before.includes(name) && !catalog.modelNamed(name))
  if (stray === undefined) return undefined
  return { ...refused('invalid_input', sayRefusal('no_model', { name: stray })), param: 'models' }
}

/** Whether an entry names a model that exists. */
const isNamed = (catalog: AdminServices['catalog'], entry: string): boolean =>
  catalog.modelNamed(entry) !== undefined || catalog.models().some((model) => isEntryFor(entry, model))

/** The lists and limits with names that no model and no alias has, as text for operators. */
export function strayModels({ accounts, catalog }: Pick<AdminServices, 'accounts' | 'catalog'>): string[] {
  const straysOf = ({ allowedModels = [], limits }: Pick<Account | ApiKey, 'allowedModels' | 'limits'>): string[] => [
    ...allowedModels.filter((name) => !isNamed(catalog, name)),
    ...Object.keys(limits.models ?? {}).flatMap((name) => (catalog.modelNamed(name) ? [] : [`${name} (limits)`])),
  ]
  return accounts.list().flatMap((account) => {
    const keys = accounts.keysOf(account.id).filter(({ revokedAtMs }) => revokedAtMs === undefined)
    return [
      ...straysOf(account).map((name) => `account ${account.name}: ${name}`),
      ...keys.flatMap((key) => straysOf(key).map((name) => `key ${key.id}: ${name}`)),
    ]
  })
}
