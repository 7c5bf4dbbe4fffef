import type { Model, PriceOrigin } from './catalog.ts'
import type { Limits } from './limits.ts'
import type { NanoUsd } from './money.ts'

export type AccountStatus = 'active' | 'suspended'

export type Account = {
  readonly id: string
  readonly name: string
  readonly status: AccountStatus
  /** Model ids this account may use; undefined means all. */
  readonly allowedModels: readonly string[] | undefined
  readonly limits: Limits
  /** Below so much available the console warns; undefined: it does not. */
  readonly lowBalance?: NanoUsd | undefined
  readonly origin: PriceOrigin
  readonly createdAtMs: number
  /** The oldest account: the operator's own. */
  readonly isFirst?: boolean
}

export type ApiKey = {
  readonly id: string
  readonly accountId: string
  readonly name: string
  /** `playground`: stands for whoever is signed in and tries the account's models; no client can present it. */
  readonly kind: 'client' | 'playground'
  readonly last4: string
  /** Model ids this key may use; undefined means all the account may use. */
  readonly allowedModels: readonly string[] | undefined
  /** Besides the account's, which count for all its keys together. */
  readonly limits: Limits
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
}

/** Who is calling: a valid key and the account it draws on. */
export type Caller = {
  readonly key: ApiKey
  readonly account: Account
  /** Of the playground: whether whoever it was lent to may call still. */
  readonly stands?: () => boolean
}

type SoldModel = Pick<Model, 'id' | 'audience'>

/** Whether an account may use a model: its allow-list admits it, and where only the first account has it, names it. */
export function accountMayUse({ allowedModels, isFirst }: Account, { id, audience }: SoldModel): boolean {
  if (allowedModels) return allowedModels.includes(id)
  return audience !== 'first_account' || isFirst === true
}

/** Whether both the account and the key may use a model. */
export function mayUse({ key, account }: Caller, model: SoldModel): boolean {
  return accountMayUse(account, model) && (key.allowedModels === undefined || key.allowedModels.includes(model.id))
}
