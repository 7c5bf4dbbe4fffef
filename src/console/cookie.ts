/** The session's cookie. */
import type { ServerExchange } from '../inbound/exchange.ts'
import { sessionBounds } from '../accounts/sessions.ts'

/** Browsers accept the `__Host-` name only over https and for this exact host, so no other host can set it. */
const nameOf = (isSecure: boolean): string => (isSecure ? '__Host-tollgate' : 'tollgate')

const attributes = (isSecure: boolean): string => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

export const sessionCookie = (token: string, isSecure: boolean): string =>
  `${nameOf(isSecure)}=${token}; ${attributes(isSecure)}; Max-Age=${sessionBounds.absoluteMs / 1000}`

export const noCookie = (isSecure: boolean): string => `${nameOf(isSecure)}=; ${attributes(isSecure)}; Max-Age=0`

export function sessionToken(exchange: ServerExchange, isSecure: boolean): string | undefined {
  const name = `${nameOf(isSecure)}=`
  const pairs = (exchange.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length)
}
