import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'

const NONE: ReplyHeaders = {}
/** A day at most is what browsers keep; ten minutes let a change of the list come through. */
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
  'x-tollgate-cost-usd',
  'x-tollgate-held-usd',
  'x-tollgate-max-output-tokens',
  'idempotent-replayed',
].join(', ')

/** Which web pages may call the API from a browser. None unless the operator lists their origins. */
export class Cors {
  private readonly origins: ReadonlySet<string>

  /** `*` among the origins means every page; keys travel in a header, never in a cookie, so that is safe. */
  constructor(origins: readonly string[]) {
    this.origins = new Set(origins)
  }

  /** The headers that let the page behind a request read its answer; empty for anybody else. */
  headersFor(exchange: ServerExchange): ReplyHeaders {
    if (this.origins.size === 0) return NONE
    const origin = exchange.header('origin')
    // Caches must not give one page's answer to another, also when this one has no headers for it.
    const vary = { vary: 'origin' }
    if (origin === undefined || !(this.origins.has('*') || this.origins.has(origin))) return vary
    return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
  }

  /** The answer to a browser that asks first; undefined for any other request. */
  preflight(exchange: ServerExchange, methods: readonly string[]): ReplyHeaders | undefined {
    if (exchange.head.method !== 'OPTIONS') return undefined
    const headers = this.headersFor(exchange)
    if (!('access-control-allow-origin' in headers)) return undefined
    if (exchange.header('access-control-request-method') === undefined) return undefined
    return {
      ...headers,
      vary: 'origin, access-control-request-method, access-control-request-headers',
      'access-control-allow-methods': methods.join(', '),
      // Clients send many of their own (x-stainless-…): whatever the page asks for is let through.
      'access-control-allow-headers':
        exchange.header('access-control-request-headers') ?? 'authorization, content-type',
      'access-control-max-age': String(PREFLIGHT_SECONDS),
    }
  }
}
