/** Parses the head of a request. Most heads repeat the one before, and need no parsing. */
import { framingOf, type Framing } from '../lib/http/http1.ts'
import { HEADERS_MAX, parseHead } from '../lib/http/message-head.ts'
import type { RequestHead } from './exchange.ts'
import { KIB } from '../lib/primitives/units.ts'
import { NO_BYTES } from '../lib/http/wire-buffer.ts'

/** The fault of a malformed request. */
export type MalformedRequest = { readonly status: 400 | 408 | 417 | 431; readonly message: string }

export type ReadHead = {
  readonly kind: 'read'
  readonly head: RequestHead
  readonly framing: Framing
  /** The client holds its body back until it receives 100 Continue. */
  readonly expectsContinue: boolean
  /** It is the last request of its connection. */
  readonly isLast: boolean
}

export const NO_BODY: Framing = { kind: 'length', bytes: 0 }
export const MALFORMED = 'The request line or a header is malformed.'
/** A method, then a path, an absolute URL (its authority ends at a slash or question mark) or an asterisk. */
const REQUEST_LINE =
  /^([A-Z]{1,24}) (\/[!-~]{0,8191}|https?:\/\/[!-.0->@-~]{1,255}(?:[/?][!-~]{0,8191})?|\*) HTTP\/(1\.[01])$/
const CLOSE = /(?:^|,)\s*close\s*(?:,|$)/i
/** A name or an address, with or without a port. */
const HOST = /^(?:[\w.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5})?)?$/i
const PORT_MAX = 65_535
const KEEP_ALIVE = /(?:^|,)\s*keep-alive\s*(?:,|$)/i

function isHost(text: string): boolean {
  const match = HOST.exec(text)
  return match !== null && Number(match[1] ?? 0) <= PORT_MAX
}

const malformed = (
  status: MalformedRequest['status'],
  message: string,
): MalformedRequest & { readonly kind: 'malformed' } => ({
  kind: 'malformed',
  status,
  message,
})

/** Reads a head without its final blank line. */
export function readRequestHead(text: string): ReadHead | (MalformedRequest & { readonly kind: 'malformed' }) {
  const parsed = parseHead(text)
  const line = parsed && REQUEST_LINE.exec(text.slice(0, parsed.startEnd))
  if (!parsed || !line) return malformedStart(text)
  const [, method = '', target = '', version] = line
  if (parsed.isRepeated('idempotency-key')) return malformed(400, 'There is more than one Idempotency-Key.')
  const headers = parsed.toMap()
  const host = headers.get('host')
  if (version === '1.1' && host === undefined) return malformed(400, 'The Host header is missing.')
  // An invalid host aims at code that builds URLs from it.
  if (host !== undefined && !isHost(host)) return malformed(400, 'The Host header is not a valid host.')
  const framing = framingOf(headers, NO_BODY)
  if (!framing || (framing.kind === 'chunked' && version === '1.0')) {
    return malformed(400, 'Content-Length and Transfer-Encoding do not define the length of the body.')
  }
  // The framing has the length. It is the only header that differs between the requests of a client: see `LastHead`.
  headers.delete('content-length')
  const expected = version === '1.1' ? headers.get('expect') : undefined
  if (expected !== undefined && expected.toLowerCase() !== '100-continue') {
    return malformed(417, 'The only supported expectation is 100-continue.')
  }
  const wishes = headers.get('connection') ?? ''
  return {
    kind: 'read',
    head: requestHead({ method, target, headers, version: version as '1.0' | '1.1' }),
    framing,
    expectsContinue: expected !== undefined,
    isLast: CLOSE.test(wishes) || (version === '1.0' && !KEEP_ALIVE.test(wishes)),
  }
}

function malformedStart(text: string): ReturnType<typeof malformed> {
  if (text.split('\r\n').length > 1 + HEADERS_MAX) return malformed(431, `There are more than ${HEADERS_MAX} headers.`)
  const start = text.slice(0, text.indexOf('\r\n') === -1 ? undefined : text.indexOf('\r\n'))
  const version = / HTTP\/(\d+)(?:\.\d+)?$/.exec(start)?.[1]
  // Not 505: a 5xx would blame the server, count in alarms, and make clients retry.
  const isOther = version !== undefined && version !== '1'
  return malformed(400, isOther ? 'Only HTTP/1.0 and HTTP/1.1 are supported.' : MALFORMED)
}

type RequestLine = Pick<RequestHead, 'method' | 'headers' | 'version'> & { readonly target: string }

function requestHead({ method, target, headers, version }: RequestLine): RequestHead {
  const local = target.startsWith('/') || target === '*' ? target : localPart(target)
  const mark = local.indexOf('?')
  const [path, query] = mark === -1 ? [local, ''] : [local.slice(0, mark), local.slice(mark)]
  return { method, path, query, headers, version }
}

/** The path and query of an absolute URL in a request line. */
function localPart(url: string): string {
  const from = url.indexOf('//') + 2
  const length = url.slice(from).search(/[/?]/)
  const local = length === -1 ? '' : url.slice(from + length)
  return local.startsWith('/') ? local : `/${local}`
}

/** A longer head is not remembered, because it would take memory for as long as its connection lives. */
const REMEMBERED_CHARS_MAX = 4 * KIB
const LENGTH = /\r\ncontent-length:[\t ]*(\d{1,15})[\t ]*\r\n/i
const LENGTH_DIGITS_MAX = 15

/**
 * The last head of a connection. Clients repeat the same head with every request, except for the length of the body.
 * Comparing bytes is cheaper than parsing them again.
 */
export class LastHead {
  private read: ReadHead | undefined
  /** The bytes before and after the digits of the body's length. Without a length, all bytes are before. */
  private before = NO_BYTES
  private behind = NO_BYTES
  /** The end of the repeated head, and the length of its body. */
  end = 0
  framing = NO_BODY

  remember(text: string, read: ReadHead): void {
    this.read = undefined
    if (text.length > REMEMBERED_CHARS_MAX) return
    const whole = `${text}\r\n\r\n`
    const found = LENGTH.exec(whole)
    const digits = found?.[1] ?? ''
    const from = found ? whole.indexOf(digits, found.index + '\r\ncontent-length:'.length) : whole.length
    this.before = Buffer.from(whole.slice(0, from), 'latin1')
    this.behind = Buffer.from(whole.slice(from + digits.length), 'latin1')
    this.read = read
  }

  /** Returns the head if the complete same head begins at `from`. Then `end` and `framing` are set. */
  again(bytes: Buffer, from: number): ReadHead | undefined {
    const { read, before, behind } = this
    let at = from + before.length
    if (!read || bytes.length < at || bytes.compare(before, 0, before.length, from, at) !== 0) return undefined
    this.end = at
    this.framing = read.framing
    if (behind.length === 0) return read
    const digitsMax = at + LENGTH_DIGITS_MAX
    let length = 0
    let digit = digitAt(bytes, at)
    while (digit !== -1 && at < digitsMax) {
      length = length * 10 + digit
      digit = digitAt(bytes, ++at)
    }
    const end = at + behind.length
    if (at === from + before.length || bytes.length < end) return undefined
    if (bytes.compare(behind, 0, behind.length, at, end) !== 0) return undefined
    this.end = end
    this.framing = { kind: 'length', bytes: length }
    return read
  }
}

function digitAt(bytes: Buffer, at: number): number {
  const digit = (bytes[at] ?? 0) - 0x30
  return digit >= 0 && digit <= 9 ? digit : -1
}
