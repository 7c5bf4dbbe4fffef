import type { Failure } from '../domain/failure.ts'
import type { BodyText } from '../inbound/body-text.ts'
import type { BodyLimits, ServerExchange } from '../inbound/exchange.ts'

type RejectedBody = { readonly kind: 'rejected'; readonly failure: Failure }
export type ReadBody = { readonly kind: 'read'; readonly text: string; readonly bytes: number } | RejectedBody

const reject = (kind: Failure['kind'], message: string): RejectedBody => ({
  kind: 'rejected',
  failure: { kind, message },
})

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** Refusals for a lack of memory for bodies: the share of one account is full, or the memory of all. */
export const CROWDED: Readonly<Record<'share_full' | 'full', Failure>> = {
  share_full: {
    kind: 'rate_limited',
    message: 'Too many large requests of this account are under way at once.',
    retryAfterMs: 1_000,
  },
  full: {
    kind: 'unavailable',
    message: 'Too many large requests are under way at once. Try again shortly.',
    retryAfterMs: 1_000,
  },
}

/** The reason to refuse a body without reading it. Undefined: the body may be read. */
function refuseUnread(exchange: ServerExchange, limits: BodyLimits): RejectedBody | undefined {
  if (!JSON_TYPE.test(exchange.header('content-type') ?? '')) {
    return reject('unsupported_media_type', 'Send the body as JSON with Content-Type: application/json.')
  }
  if (exchange.header('content-encoding') !== undefined) {
    return reject(
      'unsupported_media_type',
      'Compressed bodies are not accepted. Send the body without Content-Encoding.',
    )
  }
  return (exchange.declaredBytes ?? 0) > limits.bytesMax ? refusals.too_large(limits) : undefined
}

const readBody = (body: BodyText, limits: BodyLimits): ReadBody =>
  body.kind === 'read' ? body : refusals[body.kind](limits)

/**
 * Reads a JSON body as text, with limits on its bytes and its time. A body that arrived with its head is returned at
 * once. Call this function in the tick of the request.
 */
export function readJsonBody(exchange: ServerExchange, limits: BodyLimits): ReadBody | Promise<ReadBody> {
  const refused = refuseUnread(exchange, limits)
  if (refused) return refused
  const atHand = exchange.textAtHand(limits)
  return atHand ? readBody(atHand, limits) : exchange.readText(limits).then((body) => readBody(body, limits))
}

const refusals: Record<Exclude<BodyText['kind'], 'read'>, (limits: BodyLimits) => RejectedBody> = {
  too_large: ({ bytesMax }) => reject('request_too_large', `The body is larger than ${bytesMax} bytes.`),
  broken_off: () => reject('malformed_request', 'The body ended early, or its chunked encoding is malformed.'),
  timeout: () => reject('request_timeout', 'The body did not arrive in time.'),
  share_full: () => ({ kind: 'rejected', failure: CROWDED.share_full }),
  full: () => ({ kind: 'rejected', failure: CROWDED.full }),
  not_utf8: () => reject('invalid_json', 'The body is not valid UTF-8.'),
}
