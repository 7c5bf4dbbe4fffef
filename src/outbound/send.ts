/**
 * The only code that calls out. It speaks HTTP/1.1 over its own sockets, and connects only to addresses that the guard
 * admits, directly or through a proxy. It follows no redirect, because a credential must not travel on. It requests
 * uncompressed bytes, because the meter cannot read gzip. It says of a failed request whether the upstream can have
 * seen it. A request on a kept connection is one write, one promise and no timer. `fetch` took 60 µs of CPU for
 * one, in two threads (Bun 1.4.5).
 */
import type { Egress, ProxyAddress } from '../domain/egress.ts'
import type { UploadBody } from '../lib/http/form.ts'
import type { HeaderFields } from '../lib/http/message-head.ts'
import { addressesOf } from './address.ts'
import {
  ClientExchange,
  type Asker,
  type IncomingResponse,
  type NetworkFailure,
  type OutboundResult,
} from './exchange.ts'
import type { EnvironmentProxies } from './environment-proxies.ts'
import { checkUrl, needsAllowance, type AddressReach } from './guard.ts'
import type { OriginProxy } from './dial.ts'
import { Pool, type PoolOptions } from './pool.ts'
import { proxyAuthorization } from './proxy-handshake.ts'
import type { Stop } from './stop.ts'
import { collectText, type LongBodyReader, type TextTaker } from './text.ts'
import { KIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

export type OutboundRequest = {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** The names are constants. Values are checked, because a credential with a line end would become two headers. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of this request alone, so that the lines of the others can be kept for the next one. */
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined
  readonly body?: string | UploadBody | undefined
  readonly stop: Stop
  /**
   * For an expensive request that is billed each time it arrives. It uses a new connection. A kept one may turn out to
   * be closed, and then it is unknown whether the request arrived.
   */
  readonly sendOnce?: boolean | undefined
  /** The addresses that the request may go to. */
  readonly reach: AddressReach
  /** Undefined: as the environment says, to a host that the operator has named. */
  readonly egress?: Egress | undefined
}

/** A whole answer. The text is undefined if it is too large or broke off. */
export type WholeResult =
  | {
      readonly kind: 'whole'
      readonly status: number
      readonly headers: HeaderFields
      readonly text: string | undefined
    }
  | NetworkFailure

/** A parsed URL: the connections of its origin, and its lines of a request's head. */
type SendEndpoint = {
  readonly pool: Pool
  readonly lines: string
  /** The headers of its last request and their lines. The next request nearly always has the same. */
  headers: OutboundRequest['headers'] | undefined
  headerLines: string
}

export const CONNECT_TIMEOUT_MS = limit(
  'connectTimeoutMs',
  5_000,
  'An upstream that takes longer to connect counts as failed, and the next offer is tried.',
)
const ENDPOINTS_MAX = 1_000
/** Upstreams choose the origins of pictures. Without a bound, all of them would be kept for ever. */
const ORIGINS_MAX = limit(
  'upstreamOriginsMax',
  1_000,
  'When this many are known, all idle connections are closed and the pools are rebuilt.',
)
/** Printable ASCII and tabs. Other characters are forbidden, or servers read them differently. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/

/** The body of a longer error is dropped. Only its status is used. */
export const ERROR_BYTES_MAX = limit(
  'upstreamErrorBytesMax',
  64 * KIB,
  'If an error body of an upstream is longer, only its status is used.',
)

/** The sender of a request for a whole answer. */
class WholeAsker implements Asker, TextTaker {
  private readonly bytesMax: number
  private readonly resolve: (whole: WholeResult) => void
  private readonly reader: LongBodyReader | undefined
  private response!: IncomingResponse

  constructor(bytesMax: number, resolve: (whole: WholeResult) => void, reader: LongBodyReader | undefined) {
    this.bytesMax = bytesMax
    this.reader = reader
    this.resolve = resolve
  }

  take(result: OutboundResult): void {
    if (result.kind === 'network') return this.resolve(result)
    this.response = result.response
    const bytesMax = this.response.status === 200 ? this.bytesMax : Math.min(ERROR_BYTES_MAX, this.bytesMax)
    collectText(this.response, bytesMax, this, this.reader)
  }

  text(text: string | undefined): void {
    const { status, headers } = this.response
    this.resolve({ kind: 'whole', status, headers, text })
  }
}

/** Headers as lines. Undefined if a value is not allowed. */
function linesOf(headers: OutboundRequest['headers']): string | undefined {
  let lines = ''
  for (const name in headers) {
    const value = headers[name] as string
    if (!HEADER_VALUE.test(value)) return undefined
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

type EndpointPlace = Pick<OutboundRequest, 'reach' | 'egress'> & { readonly name: string }
type PoolPlace = {
  readonly reach: AddressReach
  readonly proxy: OriginProxy | undefined
  readonly ca: string | undefined
}

/** Another credential of a proxy needs connections of its own. */
const proxyKey = ({ scheme, hostname, port, secret = '' }: ProxyAddress): string =>
  `${scheme}://${secret}@${hostname}:${port}`

/** The lines that each request to a URL begins with. A proxy that forwards it gets the URL in absolute form. */
function linesFor({ host, pathname, search }: URL, proxy: OriginProxy | undefined): string {
  const fixed = `host: ${host}\r\naccept: */*\r\naccept-encoding: identity\r\nuser-agent: tollgate\r\n`
  const rest = `${pathname}${search} HTTP/1.1\r\n${fixed}`
  return proxy?.use === 'forwards' ? `http://${host}${rest}${proxyAuthorization(proxy.address)}` : rest
}

const unsent = (message: string): NetworkFailure => ({ kind: 'network', message, reached: false })

export class Outbound {
  private readonly options: PoolOptions
  private readonly pools = new Map<string, Pool>()
  private readonly endpoints: Readonly<Record<AddressReach, Map<string, SendEndpoint>>> = {
    web: new Map(),
    public: new Map(),
    private: new Map(),
    metadata: new Map(),
  }

  private readonly originsMax: number
  private environment: EnvironmentProxies | undefined
  /** A number for each egress, because the same URL is another endpoint by another way. */
  private readonly egressNumbers = new WeakMap<Egress, number>()
  private egressCount = 0

  constructor({ originsMax = ORIGINS_MAX, ...options }: Partial<PoolOptions> & { originsMax?: number } = {}) {
    this.originsMax = originsMax
    this.options = { connectTimeoutMs: CONNECT_TIMEOUT_MS, addressesOf, connect: Bun.connect, ...options }
  }

  /** Sends a request. A failure or a stop is a value, not a rejection. The caller takes the body of the answer. */
  send(request: OutboundRequest): Promise<OutboundResult> {
    return new Promise((resolve) => this.begin(request, { take: resolve }))
  }

  /** Sends a request and reads the whole answer, up to `bytesMax`, or `ERROR_BYTES_MAX` of an error. */
  sendForText(request: OutboundRequest, bytesMax: number, reader?: LongBodyReader): Promise<WholeResult> {
    return new Promise((resolve) => this.begin(request, new WholeAsker(bytesMax, resolve, reader)))
  }

  /** Uses the proxies of the environment from now on. Without this call there are none. */
  useProxies(environment: EnvironmentProxies): void {
    this.environment = environment
    this.forgetOrigins()
  }

  /** The number of idle connections. */
  get idleCount(): number {
    return [...this.pools.values()].reduce((sum, { idleCount }) => sum + idleCount, 0)
  }

  /** Closes idle connections, and keeps none from now on. */
  close(): void {
    for (const pool of this.pools.values()) pool.close()
  }

  private begin(request: OutboundRequest, asker: Asker): void {
    const { url, method, headers, ownHeaders, body, stop, sendOnce = false, reach, egress } = request
    if (stop.isStopped) return asker.take(unsent('aborted'))
    const name = egress === undefined ? url : `${this.numberOf(egress)} ${url}`
    const endpoint = this.endpoints[reach].get(name) ?? this.endpointOf(url, { name, reach, egress })
    if (typeof endpoint === 'string') return asker.take(unsent(endpoint))
    if (endpoint.headers !== headers) {
      const lines = linesOf(headers)
      if (lines === undefined) return asker.take(unsent('ERR_INVALID_HEADER'))
      endpoint.headers = headers
      endpoint.headerLines = lines
    }
    let text = `${method} ${endpoint.lines}${endpoint.headerLines}`
    if (ownHeaders) {
      const lines = linesOf(ownHeaders)
      if (lines === undefined) return asker.take(unsent('ERR_INVALID_HEADER'))
      text += lines
    }
    const upload = typeof body === 'object' ? body : undefined
    const bodyBytes = upload?.bytes ?? (typeof body === 'string' ? Buffer.byteLength(body) : 0)
    text += body === undefined ? '\r\n' : `content-length: ${bodyBytes}\r\n\r\n`
    const { pool } = endpoint
    // The head is ASCII, so a character is a byte.
    const bytes = text.length + (upload ? 0 : bodyBytes)
    const written = { method, head: text, body: typeof body === 'string' ? body : '', bytes, upload }
    const exchange = new ClientExchange(written, asker, pool)
    stop.target = exchange
    if (sendOnce) pool.connectFor(exchange)
    else pool.serve(exchange)
  }

  private numberOf(egress: Egress): number {
    const known = this.egressNumbers.get(egress)
    if (known !== undefined) return known
    this.egressNumbers.set(egress, ++this.egressCount)
    return this.egressCount
  }

  /** The endpoint of a URL, or the reason why it has none. `name` is its key. */
  private endpointOf(text: string, { name, reach, egress }: EndpointPlace): SendEndpoint | string {
    const checked = checkUrl(text, reach)
    if (checked.kind === 'bad') return `the URL ${checked.message}`
    if (checked.kind === 'private') return needsAllowance(checked.name)
    const { url } = checked
    const proxy = this.proxyFor(url, egress)
    const endpoint: SendEndpoint = {
      pool: this.poolOf(url, { reach, proxy, ca: egress?.ca }),
      headers: undefined,
      headerLines: '',
      lines: linesFor(url, proxy),
    }
    const endpoints = this.endpoints[reach]
    if (endpoints.size >= ENDPOINTS_MAX) endpoints.clear()
    endpoints.set(name, endpoint)
    return endpoint
  }

  private proxyFor(url: URL, egress: Egress | undefined): OriginProxy | undefined {
    const { proxy = 'environment', namedBy = 'operator' } = egress ?? {}
    const address = proxy === 'environment' ? this.environment?.proxyFor(url) : proxy === 'direct' ? undefined : proxy
    if (!address) return undefined
    const host = namedBy === 'stranger' || address.scheme === 'socks5' ? 'resolved' : 'named'
    // A proxy that forwards a request resolves the name in it.
    const forwards = url.protocol === 'http:' && address.scheme === 'http' && host === 'named'
    return { address, host, use: forwards ? 'forwards' : 'tunnels' }
  }

  private poolOf({ protocol, hostname, port, origin }: URL, { reach, proxy, ca }: PoolPlace): Pool {
    const key = [reach, origin, proxy ? `${proxyKey(proxy.address)} ${proxy.host}` : '', ca ?? ''].join('\n')
    const known = this.pools.get(key)
    if (known) return known
    if (this.pools.size >= this.originsMax) this.forgetOrigins()
    const security = protocol === 'https:' ? 'tls' : 'plain'
    const at = { security, hostname, port: Number(port || (security === 'tls' ? 443 : 80)) } as const
    const pool = new Pool({ ...at, reach, proxy, ca }, this.options)
    this.pools.set(key, pool)
    return pool
  }

  /** Forgets all origins at once. Those in use are known again with their next request. */
  private forgetOrigins(): void {
    for (const pool of this.pools.values()) pool.retire()
    this.pools.clear()
    for (const endpoints of Object.values(this.endpoints)) endpoints.clear()
  }
}

/** The instance that the gateway uses. */
export const outbound = new Outbound()
