import { randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** Writes a non-negative integer in base 62, left-padded to `length`. */
export function base62(value: bigint | number, length: number): string {
  let text = ''
  if (typeof value === 'number')
    for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text
  else for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text
  return text.padStart(length, '0')
}

const LETTERS = Buffer.from(BASE32)
const POOL_CHARS = 4096
let pool = ''
let poolUsed = POOL_CHARS

/** Random base 32 from a pool. One system call serves 157 ids, and each is one string instead of 26. */
function pooled(chars: number): string {
  if (poolUsed + chars > POOL_CHARS) {
    pool = Buffer.from(randomBytes(POOL_CHARS).map((byte) => LETTERS[byte & 31] ?? 0)).toString('latin1')
    poolUsed = 0
  }
  poolUsed += chars
  return pool.slice(poolUsed - chars, poolUsed)
}

const encodeTime = (ms: number): string => {
  let text = ''
  for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = BASE32[rest % 32] + text
  return text
}

/** A bound that sorts before every id of that time or later, and after every earlier one. */
export const idBound = (prefix: string, ms: number): string => prefix + encodeTime(Math.max(0, ms))

/** The time at which an id was made. */
export function idTimeMs(prefix: string, id: string): number {
  let ms = 0
  for (const letter of id.slice(prefix.length, prefix.length + 10)) ms = ms * 32 + Math.max(0, BASE32.indexOf(letter))
  return ms
}

let lastMs = 0
let lastTime = ''

/** 130 bits, so that nobody can guess an id from other ids and times. */
const RANDOM_CHARS = 26

/**
 * An id that sorts by its time of creation to the millisecond (10 characters of time, 26 random ones), so that new rows
 * land at the end of an index. Ids of the first versions have 16 random characters. They stay valid, and sort correctly
 * among these.
 */
export function timeOrderedId(prefix: string, nowMs = Date.now()): string {
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastTime = encodeTime(nowMs)
  }
  return `${prefix}${lastTime}${pooled(RANDOM_CHARS)}`
}

/** An id without a time. With `call_` it has 31 characters, and vendors accept 40 in a tool call. */
export const randomId = (prefix: string): string => `${prefix}${pooled(RANDOM_CHARS)}`
