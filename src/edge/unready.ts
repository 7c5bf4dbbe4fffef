/** Answers clients while the gateway cannot serve them. */
import type { Failure } from '../domain/failure.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { JSON_TYPE } from '../lib/http/content-types.ts'
import type { Cors } from './cors.ts'
import type { Edge } from './edge-options.ts'
import { chatEnvelope, envelopeOf } from './envelope.ts'

const unready = (reason: string): Failure => ({
  kind: 'unavailable',
  message: `Not ready: ${reason}.`,
  retryAfterMs: 1_000,
})

/** Answers 503 with `Retry-After` in the envelope of each dialect. The liveness routes answer 200. */
export function unreadyEdge(cors: Cors, reason: string): Edge {
  const handle = (exchange: ServerExchange): void => {
    const { path } = exchange.head
    const id = timeOrderedId('req_')
    const always = { ...(path.startsWith('/v1') ? cors.headersFor(exchange) : {}), 'x-request-id': id }
    if (path === '/healthz' || path === '/health')
      return exchange.reply(200, JSON_TYPE, JSON.stringify({ status: 'ok' }), always)
    const { failures } = envelopeOf(path, exchange)
    const { status, body, headers } = failures.write(unready(reason), id)
    const answer = path === '/readyz' ? JSON.stringify({ status: 'not ready' }) : body
    exchange.reply(status, { ...JSON_TYPE, ...headers }, answer, always)
  }
  return {
    handle,
    monitor: handle,
    refuse: ({ message }) => {
      const { body } = chatEnvelope.failures.write({ kind: 'malformed_request', message })
      return { headers: { ...JSON_TYPE, 'x-request-id': timeOrderedId('req_') }, body }
    },
  }
}
