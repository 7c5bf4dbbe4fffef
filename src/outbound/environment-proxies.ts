/**
 * The proxies of the environment: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, as curl reads them
 * (curl.se/docs/manpage.html, 2026-11). The spelling in lower case wins. There is no standard.
 */
import type { ProxyAddress } from '../domain/egress.ts'
import { bareHost } from './address.ts'
import { parseIp } from './ip.ts'
import { readProxy, shownProxy } from './proxy-address.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Exception = (hostname: string, port: number) => boolean

export class EnvironmentProxies {
  private readonly http: ProxyAddress | undefined
  private readonly https: ProxyAddress | undefined
  private readonly exceptions: readonly Exception[]

  /** Throws if a variable cannot be used. The message names it, and never its value. */
  constructor(env: Environment) {
    const all = proxyIn(env, 'ALL_PROXY')
    this.http = proxyIn(env, 'HTTP_PROXY') ?? all
    this.https = proxyIn(env, 'HTTPS_PROXY') ?? all
    this.exceptions = (valueOf(env, 'NO_PROXY') ?? '').split(/[\s,]+/).flatMap((text) => exceptionOf(text) ?? [])
  }

  /** The proxy of a URL. Undefined: it is called directly. */
  proxyFor({ protocol, hostname, port }: URL): ProxyAddress | undefined {
    const proxy = protocol === 'https:' ? this.https : this.http
    if (!proxy) return undefined
    const at = Number(port || (protocol === 'https:' ? 443 : 80))
    return this.exceptions.some((isExcepted) => isExcepted(hostname, at)) ? undefined : proxy
  }

  /** The proxies by protocol, without passwords. Undefined: there are none. */
  get shown(): { readonly http: string | null; readonly https: string | null } | undefined {
    const { http, https } = this
    if (!http && !https) return undefined
    return { http: http ? shownProxy(http) : null, https: https ? shownProxy(https) : null }
  }
}

const valueOf = (env: Environment, name: string): string | undefined => env[name.toLowerCase()] ?? env[name]

function proxyIn(env: Environment, name: string): ProxyAddress | undefined {
  const text = valueOf(env, name)
  if (!text) return undefined
  const read = readProxy(text)
  if (read.kind === 'proxy') return read.proxy
  throw new Error(`${name}: the address ${read.message}`)
}

/** An entry of `NO_PROXY`: `*`, a name with its subdomains, an address or a range. Either may have a port. */
function exceptionOf(entry: string): Exception | undefined {
  if (entry === '') return undefined
  if (entry === '*') return () => true
  const range = rangeOf(entry)
  if (range) return (hostname) => range(parseIp(bareHost(hostname)))
  const [, place = entry, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(entry) ?? []
  const atPort = (given: number): boolean => port === undefined || Number(port) === given
  const address = parseIp(bareHost(place))
  if (address !== undefined) return (hostname, given) => parseIp(bareHost(hostname)) === address && atPort(given)
  const name = place
    .toLowerCase()
    .replace(/^\*?\.+/, '')
    .replace(/\.$/, '')
  if (name === '') return undefined
  return (hostname, given) => {
    const host = hostname.replace(/\.$/, '')
    return (host === name || host.endsWith(`.${name}`)) && atPort(given)
  }
}

/** `10.0.0.0/8` or `fd00::/8`. */
function rangeOf(entry: string): ((address: bigint | undefined) => boolean) | undefined {
  const [, text = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? []
  const first = parseIp(bareHost(text))
  const width = text.includes(':') ? 128 : 32
  if (first === undefined || Number(bits) > width) return undefined
  const hostBits = BigInt(width - Number(bits))
  return (address) => address !== undefined && address >> hostBits === first >> hostBits
}
