import { crc32 } from 'node:zlib'
import { base62 } from '../lib/primitives/ids.ts'

const PREFIX = 'sk-tg-'
const SECRET_LENGTH = 43 // 62^43 > 2^256
const CHECKSUM_LENGTH = 6 // 62^6 > 2^32
const KEY_LENGTH = PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH

/**
 * Makes an API key: `sk-tg-`, 256 random bits in base 62, and a CRC32 of the characters before it. A mistyped or
 * invented key is thereby refused without a look-up.
 */
export function makeKey(random = crypto.getRandomValues(new Uint8Array(32))): string {
  const secret = base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), SECRET_LENGTH)
  return PREFIX + secret + checksum(PREFIX + secret)
}

/** Whether a text can be a key at all. Keys are case-sensitive. */
export function isKeyShaped(text: string): boolean {
  if (text.length !== KEY_LENGTH || !text.startsWith(PREFIX)) return false
  const body = text.slice(0, KEY_LENGTH - CHECKSUM_LENGTH)
  return text.slice(KEY_LENGTH - CHECKSUM_LENGTH) === checksum(body)
}

const checksum = (body: string): string => base62(crc32(body), CHECKSUM_LENGTH)
