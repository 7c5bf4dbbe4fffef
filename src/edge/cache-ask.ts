import type { Failure } from '../domain/failure.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import { SECOND_MS } from '../lib/primitives/units.ts'
import type { CacheAsk, CacheWish } from '../relay/cache-use.ts'

const WISH = /^(on|off|refresh)(?:[ \t]*;[ \t]*ttl=([1-9]\d{0,8}))?$/

/** Reads what a request wants of the answer cache from `x-tollgate-cache`. `body` is its text as it was sent. */
export function readCacheAsk(exchange: Pick<ServerExchange, 'head' | 'header'>, body: string): CacheAsk | Failure {
  const header = exchange.header('x-tollgate-cache')
  const [said, wish = 'unasked', seconds] = WISH.exec(header ?? '') ?? []
  if (header !== undefined && said === undefined) {
    const message = "The header x-tollgate-cache must be 'on', 'off' or 'refresh', as in 'on; ttl=60' with seconds."
    return { kind: 'invalid_value', message }
  }
  return {
    wish: wish as CacheWish,
    ageMsMax: seconds === undefined ? undefined : Number(seconds) * SECOND_MS,
    path: exchange.head.path,
    body,
    betas: exchange.header('anthropic-beta'),
  }
}
