/** The one place that decides who may do what. */
import type { ManagementKey } from '../accounts/management-keys.ts'
import type { Session } from '../accounts/sessions.ts'
import type { User, UserRole } from '../domain/user.ts'

/** Who sends a request, with their current rights. An operator who views an account has the rights of a member. */
export type Principal =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'user'
      readonly role: UserRole
      readonly accountId: string | undefined
      readonly user: User
      readonly session: Session
    }
  | {
      readonly kind: 'program'
      readonly role: 'operator' | 'owner'
      readonly accountId: string | undefined
      readonly key: ManagementKey
    }

/**
 * The right that a route requires. `account_…` means a right in the account of its path. Routes that grant rights or
 * spend money without a key (`people`, `play`) are only for people who are signed in, so that a leaked management key
 * cannot give itself more rights.
 */
export const accesses = [
  'open',
  'signed_in',
  'account_read',
  'account_write',
  'account_people',
  'account_play',
  'operator',
  'operator_people',
] as const
export type RouteAccess = (typeof accesses)[number]

/** `hidden`: the answer is the same as for an account that does not exist. */
export type AccessDecision = 'allowed' | 'sign_in' | 'forbidden' | 'hidden'

export function judge(access: RouteAccess, principal: Principal, accountId?: string): AccessDecision {
  if (access === 'open') return 'allowed'
  if (principal.kind === 'nobody') return 'sign_in'
  const { kind, role } = principal
  const isOwn = role === 'operator' || (accountId !== undefined && principal.accountId === accountId)
  if (access.startsWith('account_') && !isOwn) return 'hidden'
  return rightsOf(role, kind).has(access) ? 'allowed' : 'forbidden'
}

const rights = {
  member: ['account_read'],
  owner: ['account_read', 'account_write', 'account_people', 'account_play'],
  operator: ['account_read', 'account_write', 'account_people', 'account_play', 'operator', 'operator_people'],
} as const satisfies Record<UserRole, readonly RouteAccess[]>
const forPeople: readonly RouteAccess[] = ['account_people', 'account_play', 'operator_people']

function rightsOf(role: UserRole, kind: 'user' | 'program'): ReadonlySet<RouteAccess> {
  if (kind === 'user') return new Set<RouteAccess>(['signed_in', ...rights[role]])
  return new Set<RouteAccess>(rights[role].filter((access) => !forPeople.includes(access)))
}
