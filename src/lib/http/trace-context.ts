/** The headers `traceparent` and `tracestate` (W3C Trace Context, 2021-11-23; flags of Level 2, 2024-03-28). */
import { randomBytes } from 'node:crypto'

/** A span of another process, by its ids in hexadecimal. */
export type ParentSpan = {
  /** 32 digits. */
  readonly traceId: string
  /** 16 digits. */
  readonly spanId: string
  /** Whether the process records the trace. */
  readonly isSampled: boolean
  /** Its `tracestate`, if that can be passed on. */
  readonly state: string | undefined
}

const PARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
const SAMPLED = 1

/**
 * Reads the two headers. Undefined if `traceparent` is missing or malformed: the request then begins a trace of its
 * own. A repeated `traceparent` is malformed, because its values come joined by a comma. A malformed `tracestate` is
 * dropped alone.
 */
export function readParent(traceparent: string | undefined, tracestate: string | undefined): ParentSpan | undefined {
  const match = traceparent === undefined ? null : PARENT.exec(traceparent)
  if (!match) return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match
  // Later versions may append fields. Version 00 has none, and ff is forbidden.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED
  return { traceId, spanId, isSampled, state: readState(tracestate) }
}

/** The standard asks for at least this much to be passed on. */
const STATE_CHARS_MAX = 512
const STATE_MEMBERS_MAX = 32
const KEY = /^(?:[a-z][a-z\d_*/-]{0,255}|[a-z\d][a-z\d_*/-]{0,240}@[a-z][a-z\d_*/-]{0,13})$/
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/** A valid list of members with different keys, or undefined. */
function readState(text: string | undefined): string | undefined {
  if (text === undefined || text.length > STATE_CHARS_MAX) return undefined
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '')
  const keys = new Set<string>()
  for (const member of members) {
    const at = member.indexOf('=')
    const key = member.slice(0, Math.max(0, at))
    if (!KEY.test(key) || !VALUE.test(member.slice(at + 1)) || keys.has(key)) return undefined
    keys.add(key)
  }
  return members.length > 0 && members.length <= STATE_MEMBERS_MAX ? members.join(',') : undefined
}

type SpanPlace = { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean }

/** `traceparent` for a request of a span. */
export const writeParent = ({ traceId, spanId, isSampled }: SpanPlace): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

const POOL_DIGITS = 8_192
let pool = ''
let poolUsed = POOL_DIGITS

/** Random digits from a pool, because a system call for each id would cost more than the rest of a span. */
function randomDigits(count: number): string {
  if (poolUsed + count > POOL_DIGITS) {
    pool = randomBytes(POOL_DIGITS / 2).toString('hex')
    poolUsed = 0
  }
  poolUsed += count
  const digits = pool.slice(poolUsed - count, poolUsed)
  return /[^0]/.test(digits) ? digits : randomDigits(count)
}

export const randomTraceId = (): string => randomDigits(32)
export const randomSpanId = (): string => randomDigits(16)
