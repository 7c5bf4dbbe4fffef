/**
 * The only code that calls out. It speaks HTTP/1.1 over its own sockets, connects only to addresses that the guard
 * admits, and ignores proxies of the environment. It follows no redirect, because a credential must not travel on. It
 * requests uncompressed bytes, because the meter cannot read gzip. It says of a failed request whether the upstream can
 * have seen it. A request on a kept connection is one write, one promise and no timer. `fetch` took 60 µs of CPU for
 * one, in two threads (Bun 1.4.5).
 */
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
import { checkUrl, needsAllowance, type AddressReach } from './guard.ts'
import { Pool, type PoolOptions } from './pool.ts'
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

  /** The number of idle connections. */
  get idleCount(): number {
    return [...this.pools.values()].reduce((sum, { idleCount }) => sum + idleCount, 0)
  }

  /** Closes idle connections, and keeps none from now on. */
  close(): void {
    for (const pool of this.pools.values()) pool.close()
  }

  private begin(request: OutboundRequest, asker: Asker): void {
    const { url, method, headers, ownHeaders, body, stop, sendOnce = false, reach } = request
    if (stop.isStopped) return asker.take(unsent('aborted'))
    const endpoint = this.endpoints[reach].get(url) ?? this.endpointOf(url, reach)
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

  /** The endpoint of a URL, or the reason why it has none. */
  private endpointOf(text: string, reach: AddressReach): SendEndpoint | string {
    const checked = checkUrl(text, reach)
    if (checked.kind === 'bad') return `the URL ${checked.message}`
    if (checked.kind === 'private') return needsAllowance(checked.name)
    const { protocol, hostname, host, port, pathname, search, origin } = checked.url
    const security = protocol === 'https:' ? 'tls' : 'plain'
    const poolKey = `${reach} ${origin}`
    let pool = this.pools.get(poolKey)
    if (!pool) {
      if (this.pools.size >= this.originsMax) this.forgetOrigins()
      pool = new Pool(
        { security, hostname, port: Number(port || (security === 'tls' ? 443 : 80)), reach },
        this.options,
      )
      this.pools.set(poolKey, pool)
    }
    const fixed = ['accept: */*', 'accept-encoding: identity', 'user-agent: tollgate']
    const endpoint: SendEndpoint = {
      pool,
      headers: undefined,
      headerLines: '',
      lines: `${[`${pathname}${search} HTTP/1.1`, `host: ${host}`, ...fixed].join('\r\n')}\r\n`,
    }
    const endpoints = this.endpoints[reach]
    if (endpoints.size >= ENDPOINTS_MAX) endpoints.clear()
    endpoints.set(text, endpoint)
    return endpoint
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
