/** Lists of the models that an account or a key may use. */
import type { Account, ApiKey } from '../domain/account.ts'
import { refused, type AdminServices, type OperationRefusal } from './operation.ts'
import { sayRefusal } from './refusals.ts'

/**
 * Why a list cannot be taken: a name in it stands for no model, which is a slip of the pen. `before` is the list as it
 * is: a model that went since stays in it. A key's list may name what its account lacks: both have to admit a model.
 */
export function strayModel(
  { catalog }: Pick<AdminServices, 'catalog'>,
  named: readonly string[] | null | undefined,
  before: readonly string[] = [],
): OperationRefusal | undefined {
  const stray = named?.find((name) => !before.includes(name) && !catalog.model(name))
  if (stray === undefined) return undefined
  return { ...refused('invalid_input', sayRefusal('no_model', { name: stray })), param: 'models' }
}

/** The lists with names in them that no model has, for whoever looks after them. */
export function strayModels({ accounts, catalog }: Pick<AdminServices, 'accounts' | 'catalog'>): string[] {
  const straysOf = ({ allowedModels = [] }: Pick<Account | ApiKey, 'allowedModels'>): string[] =>
    allowedModels.filter((name) => !catalog.model(name))
  return accounts.list().flatMap((account) => {
    const keys = accounts.keysOf(account.id).filter(({ revokedAtMs }) => revokedAtMs === undefined)
    return [
      ...straysOf(account).map((name) => `account ${account.name}: ${name}`),
      ...keys.flatMap((key) => straysOf(key).map((name) => `key ${key.id}: ${name}`)),
    ]
  })
}
