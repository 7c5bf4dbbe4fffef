/** Finds who sends a request, by the management key or the session. */
import { keyStatus } from '../accounts/management-keys.ts'
import type { Session } from '../accounts/sessions.ts'
import type { AdminServices } from '../admin/operation.ts'
import type { User } from '../domain/user.ts'
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
  return { principal: { kind: 'user', ...rightsOf(user, session), user, session }, hasStaleCookie: false }
}

/** An operator who views an account has the rights of a member. */
const rightsOf = (user: User, { viewAs }: Session): Pick<Principal & { kind: 'user' }, 'role' | 'accountId'> =>
  viewAs === undefined ? { role: user.role, accountId: user.accountId } : { role: 'member', accountId: viewAs }

/** Whether a principal still has its rights. The check does not prolong a session, so one that only watches ends. */
export function stands({ managementKeys, sessions, users }: People, principal: Principal): boolean {
  switch (principal.kind) {
    case 'nobody':
      return true
    case 'program': {
      const key = managementKeys.find(principal.key.id)
      return key !== undefined && keyStatus(key, users) === 'active'
    }
    case 'user': {
      const user = users.find(principal.user.id)
      const session = user && sessions.listOf(user.id).find(({ id }) => id === principal.session.id)
      if (!session || user.status !== 'active') return false
      const { role, accountId } = rightsOf(user, session)
      return role === principal.role && accountId === principal.accountId
    }
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
