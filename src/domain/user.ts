/** What somebody who signs in may do: everything, everything in one account, or look at one account. */
export const userRoles = ['operator', 'owner', 'member'] as const
export type UserRole = (typeof userRoles)[number]

export type User = {
  readonly id: string
  /** What is typed to sign in; no two differ only in case. */
  readonly name: string
  readonly role: UserRole
  /** Undefined for operators. */
  readonly accountId: string | undefined
  /** `invited`: has chosen no password yet. */
  readonly status: 'invited' | 'active' | 'disabled'
  readonly createdAtMs: number
}
