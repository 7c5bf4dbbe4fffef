/**
 * Keys for management programs, of operators or of an account. This is the port that every store of them implements,
 * and the rules that stores share. `people-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - Reads come from memory, in the tick of the call. A revocation is in force from that tick on, for good.
 * - A created key is valid once its promise resolves. Its secret is returned once and stored as a digest.
 */
import type { UserDirectory } from './users.ts'

export type ManagementKey = {
  readonly id: string
  /** The account of the key. Undefined for a key with the rights of operators. */
  readonly accountId: string | undefined
  readonly name: string
  readonly last4: string
  /** The id of the user who made it in the console. Undefined if a command of the machine's operator made it. */
  readonly createdBy: string | undefined
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
}

export type ManagementKeyDraft = Pick<ManagementKey, 'accountId' | 'name' | 'createdBy'>

export type NewManagementKey = {
  readonly key: ManagementKey
  /** Only here does the full key exist outside the program that uses it. */
  readonly secret: string
}

export type ManagementKeys = {
  /** The key of a secret. Undefined if there is none, or if its maker has lost the rights of the key. */
  authenticate(secret: string, users: UserDirectory): ManagementKey | undefined
  /** The key of a secret, even if it is revoked, or undefined if there is none. From the store. */
  keyOfSecret(secret: string): Promise<ManagementKey | undefined>
  find(id: string): ManagementKey | undefined
  /** How many keys stop when the user who made them is disabled. */
  activeOf(makerId: string, users: UserDirectory): number
  /** The keys of an account, or those of operators, oldest first. */
  listOf(accountId: string | undefined): readonly ManagementKey[]
  create(draft: ManagementKeyDraft): Promise<NewManagementKey>
  /** Revokes a key and returns it, or undefined if there is none. A key that is already revoked stays unchanged. */
  revoke(id: string): Promise<ManagementKey | undefined>
}

export const keyStatuses = ['active', 'suspended', 'revoked'] as const

/** `suspended`: the maker is barred, or has lost the role for it. A key must not outlive the rights of its maker. */
export function keyStatus(key: ManagementKey, users: UserDirectory): (typeof keyStatuses)[number] {
  if (key.revokedAtMs !== undefined) return 'revoked'
  if (key.createdBy === undefined) return 'active'
  const maker = users.find(key.createdBy)
  if (maker?.status !== 'active') return 'suspended'
  const isOwner = maker.role === 'owner' && maker.accountId === key.accountId
  return maker.role === 'operator' || isOwner ? 'active' : 'suspended'
}
