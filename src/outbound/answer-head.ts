/** Parses the head of an upstream's answer. */
import { framingOf, type Framing } from '../lib/http/http1.ts'
import { parseHead, type HeaderFields } from '../lib/http/message-head.ts'

export type AnswerHead =
  | {
      readonly kind: 'final'
      readonly status: number
      readonly headers: HeaderFields
      readonly framing: Framing
      /** How long the upstream keeps the connection for another request. 0: it closes it. */
      readonly keepAliveMs: number
    }
  /** A 1xx answer, which only announces another. */
  | { readonly kind: 'interim' }
  | { readonly kind: 'malformed'; readonly message: string }

const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: |\r|$)/
const MINOR_AT = 'HTTP/1.'.length
const STATUS_AT = 'HTTP/1.1 '.length
const ZERO = 0x30
const CLOSE = /\bclose\b/i
const KEEP_ALIVE_TIMEOUT = /\btimeout=(\d{1,6})\b/i
const NO_BODY: Framing = { kind: 'length', bytes: 0 }
const TO_THE_END: Framing = { kind: 'close' }

const malformed = (message: string): AnswerHead => ({ kind: 'malformed', message })

/** Reads the head of an answer to a request with `method`. */
export function readAnswerHead(text: string, method: string): AnswerHead {
  const headers = parseHead(text)
  if (!headers || !STATUS_LINE.test(text)) return malformed('the answer is not HTTP/1.1')
  const isOld = text.charCodeAt(MINOR_AT) === ZERO
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3))
  // 101 would switch to a protocol that was not requested.
  if (status === 101) return malformed('the answer changes the protocol')
  if (status < 200) return { kind: 'interim' }
  const framing = framingOf(headers, TO_THE_END)
  if (!framing || (framing.kind === 'chunked' && isOld)) {
    return malformed('the answer does not define its length')
  }
  const isBodiless = method === 'HEAD' || status === 204 || status === 304
  const isLast = isOld || CLOSE.test(headers.get('connection') ?? '')
  return {
    kind: 'final',
    status,
    headers,
    framing: isBodiless ? NO_BODY : framing,
    keepAliveMs: isLast ? 0 : statedKeepAliveMs(headers.get('keep-alive')),
  }
}

function statedKeepAliveMs(header: string | undefined): number {
  const seconds = header === undefined ? undefined : KEEP_ALIVE_TIMEOUT.exec(header)?.[1]
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000
}
