/** Reads and shows the address of a proxy. */
import type { ProxyAddress, ProxyScheme } from '../domain/egress.ts'
import { checkUrl } from './guard.ts'

export type ReadProxy =
  | { readonly kind: 'proxy'; readonly proxy: ProxyAddress }
  /** `message` follows the name of the setting. It never holds the address, which may have a password. */
  | { readonly kind: 'bad'; readonly message: string }

/** Of SOCKS, the registered one. */
const PORTS: Readonly<Record<ProxyScheme, number>> = { http: 80, socks5: 1080, socks5h: 1080 }
const CREDENTIAL = /^[\x20-\x7e]*$/
/** RFC 1929: a name and a password have one byte for their length. */
const PART_CHARS_MAX = 255

const bad = (message: string): ReadProxy => ({ kind: 'bad', message })

/**
 * Reads `[scheme://][user:password@]host[:port]`. Without a scheme it is `http`. User and password are percent-encoded.
 * Naming a proxy is the permission to connect to it, so it may be at a private address. Metadata services and the like
 * stay barred.
 */
export function readProxy(text: string): ReadProxy {
  const [, scheme = 'http', rest = ''] = /^(?:([a-z][a-z\d+.-]*):\/\/)?(.*)$/is.exec(text.trim()) ?? []
  const kind = scheme.toLowerCase()
  if (!isScheme(kind)) return bad('must begin with http://, socks5:// or socks5h://')
  const at = rest.lastIndexOf('@')
  const place = rest.slice(at + 1).replace(/\/$/, '')
  if (/[/?#]/.test(place)) return bad('must have neither a path nor a query')
  const checked = checkUrl(`http://${place}`, 'private')
  if (checked.kind !== 'good') return bad(checked.kind === 'bad' ? checked.message : 'is not an address')
  const port = Number(/:(\d+)$/.exec(place)?.[1] ?? PORTS[kind])
  if (port === 0) return bad('must not be at port 0')
  const secret = at === -1 ? undefined : secretIn(rest.slice(0, at))
  if (at !== -1 && secret === undefined) return bad('has a user or a password that cannot be sent')
  return { kind: 'proxy', proxy: { scheme: kind, hostname: checked.url.hostname, port, secret } }
}

const isScheme = (text: string): text is ProxyScheme => Object.hasOwn(PORTS, text)

/** `user:password`, or undefined if it cannot be sent. */
function secretIn(text: string): string | undefined {
  const colon = text.indexOf(':')
  const parts = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  try {
    const [user = '', password = ''] = parts.map((part) => decodeURIComponent(part))
    const isSendable = [user, password].every((part) => CREDENTIAL.test(part) && part.length <= PART_CHARS_MAX)
    return isSendable && user !== '' && !user.includes(':') ? `${user}:${password}` : undefined
  } catch {
    return undefined // Not percent-encoded.
  }
}

/** The address without user and password, for people. */
export const shownProxy = ({ scheme, hostname, port }: ProxyAddress): string => `${scheme}://${hostname}:${port}`
