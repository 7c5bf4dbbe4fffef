/** The rights of a person in one session, as data: another instance can tell whether the person still has them. */
import type { User, UserRole } from '../domain/user.ts'
import type { Session, Sessions } from './sessions.ts'
import type { Users } from './users.ts'

export type SessionRights = {
  readonly userId: string
  readonly sessionId: string
  readonly role: UserRole
  /** Undefined for operators. */
  readonly accountId: string | undefined
}

/** An operator who views an account has the rights of a member. */
export const rightsOf = (
  { id: userId, role, accountId }: User,
  { id: sessionId, viewAs }: Pick<Session, 'id' | 'viewAs'>,
): SessionRights =>
  viewAs === undefined
    ? { userId, sessionId, role, accountId }
    : { userId, sessionId, role: 'member', accountId: viewAs }

/** Whether a person still has these rights. The check does not prolong the session. */
export function hasRights(
  { users, sessions }: { readonly users: Pick<Users, 'find'>; readonly sessions: Pick<Sessions, 'listOf'> },
  { userId, sessionId, role, accountId }: SessionRights,
): boolean {
  const user = users.find(userId)
  const session = user && sessions.listOf(user.id).find(({ id }) => id === sessionId)
  if (!session || user.status !== 'active') return false
  const now = rightsOf(user, session)
  return now.role === role && now.accountId === accountId
}
