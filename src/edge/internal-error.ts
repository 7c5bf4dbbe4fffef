import type { ServerExchange } from '../inbound/exchange.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { JSON_TYPE } from '../lib/http/content-types.ts'
import { envelopeOf } from './envelope.ts'
import { INTERNAL_ERROR } from './request-context.ts'

/** Answers when a handler has failed. An answer that has begun can only be cut off. */
export function replyWithInternalError(exchange: ServerExchange): void {
  if (exchange.isGone) return
  if (!exchange.isUnanswered) return exchange.destroy()
  const id = timeOrderedId('req_')
  const { failures } = envelopeOf(exchange.head.path, exchange)
  const { status, body, headers } = failures.write(INTERNAL_ERROR, id)
  exchange.reply(status, { ...JSON_TYPE, ...headers, 'x-request-id': id }, body)
}
