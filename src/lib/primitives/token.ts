/** Secrets that people and programs carry: 256 random bits, kept only as digests. */
import { createHash, randomBytes } from 'node:crypto'
import { base62 } from './ids.ts'

/** 62^43 > 2^256 */
const LENGTH = 43

export const makeToken = (prefix = ''): string =>
  prefix + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), LENGTH)

/** A plain digest is enough, because a secret with 256 random bits cannot be found by trying. */
export const tokenDigest = (token: string): string => createHash('sha256').update(token).digest('hex')
