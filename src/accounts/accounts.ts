/**
 * Accounts and keys: the port that every store of them implements, and the rules that stores share.
 * `sql-accounts.ts` implements it for both stores. `accounts-contract.ts` is the suite of every implementation.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call.
 * - A revocation, a suspension and a change of limits are in force from the tick of the call, before they are on disk.
 * - A created account or key is valid once its promise resolves. What a promise reported survives the process.
 * - The secret of a key is returned once, by `createKey`. It is stored as a digest.
 * - An account name belongs to one account. A revoked key is never valid again.
 */
import { type Account, type AccountStatus, type ApiKey, type Caller } from '../domain/account.ts'
import type { PriceOrigin } from '../domain/catalog.ts'
import type { Limits } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { PassTerms } from './pass.ts'
import type { SessionRights } from './session-rights.ts'

export type NewKey = {
  readonly key: ApiKey
  /** Only here does the full key exist outside the client. */ readonly secret: string
}

export type AccountsOptions = {
  /** The key of the HMAC of secrets. With another pepper, no stored digest matches. */
  readonly pepper: Uint8Array
  /** Called in the tick in which a key or an account stops being valid, so that its running streams can be cut. */
  readonly onBarred: (barred: { readonly keyId: string } | { readonly accountId: string }) => void
  /** Whether the holder of a playground token still has the rights with which it was made. */
  readonly hasRights: (holder: SessionRights) => boolean
}

export type AccountDraft = {
  readonly name: string
  readonly allowedModels?: readonly string[] | undefined
  readonly limits?: Limits | undefined
  readonly origin?: PriceOrigin | undefined
}

/** Fields that are left out stay unchanged. Null allows all models, or disables the balance warning. */
export type AccountChange = {
  readonly status?: AccountStatus
  readonly allowedModels?: readonly string[] | null
  readonly limits?: Limits
  /** Above zero. Null: no warning. */
  readonly lowBalance?: NanoUsd | null
  readonly origin?: PriceOrigin
}

export type KeyDraft = {
  readonly accountId: string
  readonly name: string
  readonly allowedModels?: readonly string[] | undefined
  readonly limits?: Limits | undefined
  /** The default is a client's key. */
  readonly kind?: ApiKey['kind'] | undefined
}

/** Fields that are left out stay unchanged. Null allows all models. */
export type KeyChange = {
  readonly name?: string | undefined
  readonly allowedModels?: readonly string[] | null | undefined
  readonly limits?: Limits | undefined
}

/** Methods that change an unknown object reject with an Error. Lists are oldest first. */
export type Accounts = {
  /** The caller with a presented key, or undefined if the key is malformed, unknown or revoked. */
  authenticate(presented: string): Caller | undefined
  /** Waits for the news of a key that another instance may have made. Undefined if there is nothing to wait for. */
  awaitKey(presented: string): Promise<void> | undefined
  /** The caller with a key by its id, or undefined once the key is revoked. */
  callerOf(keyId: string): Caller | undefined
  list(): readonly Account[]
  /** An account by id or name. */
  find(reference: string): Account | undefined
  /**
   * Makes an account. The first account of a store is `isFirst`. Undefined, and nothing is written, if another account
   * has this name or id, or is being made with it.
   */
  create(account: AccountDraft): Promise<Account | undefined>
  update(id: string, change: AccountChange): Promise<Account>
  /** The client keys of an account, including revoked ones. */
  keysOf(accountId: string): readonly ApiKey[]
  findKey(id: string): ApiKey | undefined
  /** The presented client key, even if it is revoked, or undefined if no account has it. From memory. */
  keyPresented(presented: string): ApiKey | undefined
  /** The client key with a secret, even if it is revoked, or undefined if no account has it. From the store. */
  keyOfSecret(secret: string): Promise<ApiKey | undefined>
  /** Makes a key. Rejects if there is no such account. */
  createKey(key: KeyDraft): Promise<NewKey>
  updateKey(id: string, change: KeyChange): Promise<ApiKey>
  /** A token for the playground. It is valid as a key of the account until the terms end. It is not stored. */
  passFor(accountId: string, terms: PassTerms): Promise<string>
  /** Revokes a key. Resolves to false if there was nothing to revoke. */
  revokeKey(id: string): Promise<boolean>
}

/** An account after a change. */
export const changedAccount = (
  before: Account,
  { status, allowedModels, limits, lowBalance, origin }: AccountChange,
): Account => ({
  ...before,
  status: status ?? before.status,
  allowedModels: allowedModels === undefined ? before.allowedModels : (allowedModels ?? undefined),
  limits: limits ?? before.limits,
  lowBalance: lowBalance === undefined ? before.lowBalance : (lowBalance ?? undefined),
  origin: origin ?? before.origin,
})

/** A key after a change. */
export const changedKey = (before: ApiKey, { name, allowedModels, limits }: KeyChange): ApiKey => ({
  ...before,
  name: name ?? before.name,
  allowedModels: allowedModels === undefined ? before.allowedModels : (allowedModels ?? undefined),
  limits: limits ?? before.limits,
})
