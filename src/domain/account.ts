import type { Model, PriceOrigin } from './catalog.ts'
import type { Limits } from './limits.ts'
import type { NanoUsd } from './money.ts'

export type AccountStatus = 'active' | 'suspended'

export type Account = {
  readonly id: string
  readonly name: string
  readonly status: AccountStatus
  /** The models that this account may use, by id or alias. Undefined means all. */
  readonly allowedModels: readonly string[] | undefined
  readonly limits: Limits
  /** The console warns if less than this is available. Undefined: it does not warn. */
  readonly lowBalance?: NanoUsd | undefined
  readonly origin: PriceOrigin
  readonly createdAtMs: number
  /** Whether this is the oldest account, which is the operator's own. */
  readonly isFirst?: boolean
}

export type ApiKey = {
  readonly id: string
  readonly accountId: string
  readonly name: string
  /** `playground`: stands for a person who is signed in and tries the account's models. No client can present it. */
  readonly kind: 'client' | 'playground'
  readonly last4: string
  /** The models that this key may use, by id or alias. Undefined means all that the account may use. */
  readonly allowedModels: readonly string[] | undefined
  /** They add to the account's limits, which count for all its keys together. */
  readonly limits: Limits
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
}

/** The caller: a valid key and the account that it draws on. */
export type Caller = {
  readonly key: ApiKey
  readonly account: Account
  /** Set in the playground: whether the person who uses the key may still call. */
  readonly stands?: () => boolean
}

type SoldModel = Pick<Model, 'id' | 'audience' | 'aliases'>

/** Whether an entry of an allow-list is a wildcard: `name/*` names every model whose id begins with `name/`. */
const isWildcard = (entry: string): boolean => entry.endsWith('/*')

/** Whether an entry of an allow-list names a model: by its id, by an alias, or by a wildcard of its id. */
export const isEntryFor = (entry: string, { id, aliases }: Pick<Model, 'id' | 'aliases'>): boolean =>
  entry === id ||
  (aliases !== undefined && aliases.includes(entry)) ||
  (isWildcard(entry) && id.startsWith(entry.slice(0, -1)))

/** Whether an allow-list admits a model. */
export const allows = (list: readonly string[], model: Pick<Model, 'id' | 'aliases'>): boolean =>
  list.includes(model.id) || list.some((entry) => isEntryFor(entry, model))

/**
 * Whether an account may use a model. Its allow-list must admit the model. A model for the first account alone must be
 * named in the allow-list of any other account.
 */
export function accountMayUse({ allowedModels, isFirst }: Account, model: SoldModel): boolean {
  const { audience } = model
  if (allowedModels) return allows(allowedModels, model)
  return audience !== 'first_account' || isFirst === true
}

/** Whether both the account and the key may use a model. */
export function mayUse({ key, account }: Caller, model: SoldModel): boolean {
  return accountMayUse(account, model) && (key.allowedModels === undefined || allows(key.allowedModels, model))
}
