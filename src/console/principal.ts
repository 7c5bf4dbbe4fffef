/** Finds who sends a request, by the management key or the session. */
import { keyStatus } from '../accounts/management-keys.ts'
import { hasRights, rightsOf, type SessionRights } from '../accounts/session-rights.ts'
import type { AdminServices } from '../admin/operation.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { Principal } from './access.ts'
import { sessionToken } from './cookie.ts'
import type { ConsoleFacts } from './context.ts'

type People = Pick<AdminServices, 'managementKeys' | 'sessions' | 'users'>

/** The console's pages send this header with requests that no user triggered. */
const UNATTENDED = 'x-tollgate-unattended'

const BEARER = /^bearer +(\S+) *$/i

export function principalOf(
  { services, facts }: { readonly services: People; readonly facts: Pick<ConsoleFacts, 'isSecure'> },
  exchange: ServerExchange,
): { readonly principal: Principal; readonly hasStaleCookie: boolean } {
  const bearer = BEARER.exec(exchange.header('authorization') ?? '')?.[1]
  if (bearer !== undefined) {
    const key = services.managementKeys.authenticate(bearer, services.users)
    const role = key?.accountId === undefined ? 'operator' : 'owner'
    const principal: Principal = key ? { kind: 'program', role, accountId: key.accountId, key } : { kind: 'nobody' }
    if (key) exchange.notes.set('principal', key.id)
    return { principal, hasStaleCookie: false }
  }
  const token = sessionToken(exchange, facts.isSecure)
  const asks = exchange.header(UNATTENDED) === undefined ? 'person' : 'page'
  const found = token ? services.sessions.find(token, services.users, { asks }) : undefined
  if (!found) return { principal: { kind: 'nobody' }, hasStaleCookie: token !== undefined }
  const { session, user } = found
  exchange.notes.set('principal', user.id)
  const { role, accountId } = rightsOf(user, session)
  return { principal: { kind: 'user', role, accountId, user, session }, hasStaleCookie: false }
}

/** The rights with which a person sent a request. */
export const rightsIn = ({ user, session, role, accountId }: Principal & { readonly kind: 'user' }): SessionRights => ({
  userId: user.id,
  sessionId: session.id,
  role,
  accountId,
})

/** Whether a principal still has its rights. The check does not prolong a session, so one that only watches ends. */
export function stands({ managementKeys, sessions, users }: People, principal: Principal): boolean {
  switch (principal.kind) {
    case 'nobody':
      return true
    case 'program': {
      const key = managementKeys.find(principal.key.id)
      return key !== undefined && keyStatus(key, users) === 'active'
    }
    case 'user':
      return hasRights({ users, sessions }, rightsIn(principal))
  }
}

/** The name under which a principal uses shared budgets. All unknown senders have one name. */
export function shareOfPrincipal(principal: Principal): string {
  switch (principal.kind) {
    case 'nobody':
      return ''
    case 'user':
      return principal.user.id
    case 'program':
      return principal.key.id
  }
}
