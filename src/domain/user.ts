/** The permissions of a person who signs in: everything, everything in one account, or read access to one account. */
export const userRoles = ['operator', 'owner', 'member'] as const
export type UserRole = (typeof userRoles)[number]

export type User = {
  readonly id: string
  /** The name to sign in with. No two names differ only in case. */
  readonly name: string
  readonly role: UserRole
  /** Undefined for operators. */
  readonly accountId: string | undefined
  /** `invited`: the user has not chosen a password yet. */
  readonly status: 'invited' | 'active' | 'disabled'
  readonly createdAtMs: number
}
