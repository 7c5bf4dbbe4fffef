/** Who a request is from, by its management key or its session. */
import type { Office } from '../admin/operation.ts'
import type { Exchange } from '../inbound/exchange.ts'
import type { Principal } from './access.ts'
import { sessionToken } from './cookie.ts'
import type { Facts } from './desk.ts'

type People = Pick<Office, 'managementKeys' | 'sessions' | 'users'>

const BEARER = /^bearer +(\S+)$/i

export function principalOf(
  { office, facts }: { readonly office: People; readonly facts: Pick<Facts, 'isSecure'> },
  exchange: Exchange,
): { readonly principal: Principal; readonly hasStaleCookie: boolean } {
  const bearer = BEARER.exec(exchange.header('authorization') ?? '')?.[1]
  if (bearer !== undefined) {
    const key = office.managementKeys.authenticate(bearer, office.users)
    const role = key?.accountId === undefined ? 'operator' : 'owner'
    const principal: Principal = key ? { kind: 'program', role, accountId: key.accountId, key } : { kind: 'nobody' }
    return { principal, hasStaleCookie: false }
  }
  const token = sessionToken(exchange, facts.isSecure)
  const found = token ? office.sessions.find(token, office.users) : undefined
  if (!found) return { principal: { kind: 'nobody' }, hasStaleCookie: token !== undefined }
  const { session, user } = found
  const { viewAs } = session
  const rights =
    viewAs === undefined
      ? { role: user.role, accountId: user.accountId }
      : { role: 'member' as const, accountId: viewAs }
  return { principal: { kind: 'user', ...rights, user, session }, hasStaleCookie: false }
}
