/**
 * Keys for programs that manage: an operator's, or an account's. This is the port that every store of them implements,
 * and the rules that they share. `management-keys-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. A revocation holds from that tick on, and for good.
 * - A created key is valid once its promise resolves. Its secret is returned once and stored as a digest.
 */
import type { UserDirectory } from './users.ts'

export type ManagementKey = {
  readonly id: string
  /** Undefined: may do what operators may. */
  readonly accountId: string | undefined
  readonly name: string
  readonly last4: string
  /** Id of whoever made it in the console; undefined: a command of the machine's operator. */
  readonly createdBy: string | undefined
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
}

export type ManagementKeyDraft = Pick<ManagementKey, 'accountId' | 'name' | 'createdBy'>

export type NewManagementKey = {
  readonly key: ManagementKey
  /** The only time the whole key exists outside the program that uses it. */
  readonly secret: string
}

export type ManagementKeys = {
  /** The key of a secret; undefined when there is none, or its maker may no longer do what it may. */
  authenticate(secret: string, users: UserDirectory): ManagementKey | undefined
  /** The key of a secret, also where it is revoked; undefined: there is none. From the store. */
  keyOfSecret(secret: string): Promise<ManagementKey | undefined>
  find(id: string): ManagementKey | undefined
  /** How many keys stop when their maker is disabled. */
  activeOf(makerId: string, users: UserDirectory): number
  /** Those of an account, or the operators'; the oldest first. */
  listOf(accountId: string | undefined): readonly ManagementKey[]
  create(draft: ManagementKeyDraft): Promise<NewManagementKey>
  /** The key after its revocation; undefined where there is none. A key that is revoked already stays as it is. */
  revoke(id: string): Promise<ManagementKey | undefined>
}

export const keyStatuses = ['active', 'suspended', 'revoked'] as const

/** `suspended`: its maker is barred, or has lost the role for it. A key must not outlive the rights of its maker. */
export function keyStatus(key: ManagementKey, users: UserDirectory): (typeof keyStatuses)[number] {
  if (key.revokedAtMs !== undefined) return 'revoked'
  if (key.createdBy === undefined) return 'active'
  const maker = users.find(key.createdBy)
  if (maker?.status !== 'active') return 'suspended'
  const isOwner = maker.role === 'owner' && maker.accountId === key.accountId
  return maker.role === 'operator' || isOwner ? 'active' : 'suspended'
}
