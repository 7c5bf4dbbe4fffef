import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'

const NONE: ReplyHeaders = {}
/** Browsers keep a preflight for a day at most. After ten minutes they see a change of the list. */
const PREFLIGHT_SECONDS = 600
const EXPOSED = [
  'x-request-id',
  'request-id',
  'retry-after',
  'x-should-retry',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'x-tollgate-cache',
  'x-tollgate-cost-usd',
  'x-tollgate-held-usd',
  'x-tollgate-max-output-tokens',
  'x-tollgate-model',
  'x-tollgate-provider',
  'idempotent-replayed',
].join(', ')

/** Decides which web pages may call the API from a browser. By default none: the operator lists the origins. */
export class Cors {
  private readonly origins: ReadonlySet<string>

  /** The origin `*` allows every page. That is safe, because keys travel in a header and never in a cookie. */
  constructor(origins: readonly string[]) {
    this.origins = new Set(origins)
  }

  /** The headers that let the requesting page read its answer. Empty for other pages and for programs. */
  headersFor(exchange: ServerExchange): ReplyHeaders {
    if (this.origins.size === 0) return NONE
    const origin = exchange.header('origin')
    // A cache must not give the answer of one page to another page. That holds for answers without these headers too.
    const vary = { vary: 'origin' }
    if (origin === undefined || !(this.origins.has('*') || this.origins.has(origin))) return vary
    return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
  }

  /** The headers that answer a preflight request. Undefined for any other request. */
  preflight(exchange: ServerExchange, methods: readonly string[]): ReplyHeaders | undefined {
    if (exchange.head.method !== 'OPTIONS') return undefined
    const headers = this.headersFor(exchange)
    if (!('access-control-allow-origin' in headers)) return undefined
    if (exchange.header('access-control-request-method') === undefined) return undefined
    return {
      ...headers,
      vary: 'origin, access-control-request-method, access-control-request-headers',
      'access-control-allow-methods': methods.join(', '),
      // Clients send many headers of their own (x-stainless-…). The page may send every header that it asks for.
      'access-control-allow-headers':
        exchange.header('access-control-request-headers') ?? 'authorization, content-type',
      'access-control-max-age': String(PREFLIGHT_SECONDS),
    }
  }
}
