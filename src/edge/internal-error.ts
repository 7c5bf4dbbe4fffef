import type { Exchange } from '../inbound/exchange.ts'
import { timeOrderedId } from '../lib/ids.ts'
import { JSON_TYPE } from '../relay/headers.ts'
import { envelopeOf } from './surface.ts'
import { INTERNAL } from './turn.ts'

/** What is left to say where a handler has failed; an answer that has begun can only be broken off. */
export function replyWithInternalError(exchange: Exchange): void {
  if (exchange.isGone) return
  if (!exchange.isUnanswered) return exchange.destroy()
  const id = timeOrderedId('req_')
  const { failures } = envelopeOf(exchange.head.path, exchange)
  const { status, body, headers } = failures.write(INTERNAL, id)
  exchange.reply(status, { ...JSON_TYPE, ...headers, 'x-request-id': id }, body)
}
