/**
 * Tokens of the playground. A token states who may call with which key until when, and is signed, so every instance can
 * check it and none has to keep it.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SessionRights } from './session-rights.ts'

/** Who uses a token, and until when. */
export type PassTerms = { readonly untilMs: number; readonly holder: SessionRights }

export type Pass = PassTerms & { readonly keyId: string }

/** Logs and messages hide keys by this prefix, so they hide tokens too. A token is longer than a key. */
const PREFIX = 'sk-tg-play-'
const SIGNATURE_CHARS = 43

/** `secret` signs nothing else that begins with the prefix. */
const signatureOf = (body: string, secret: Uint8Array): string =>
  new Bun.CryptoHasher('sha256', secret).update(body).digest('base64url')

export function signPass({ keyId, untilMs, holder }: Pass, secret: Uint8Array): string {
  const body = PREFIX + Buffer.from(JSON.stringify({ keyId, untilMs, holder })).toString('base64url')
  return body + signatureOf(body, secret)
}

/** The pass of a token, or undefined if nobody signed it. It may have ended. */
export function readPass(token: string, secret: Uint8Array): Pass | undefined {
  if (!token.startsWith(PREFIX)) return undefined
  const body = token.slice(0, -SIGNATURE_CHARS)
  const presented = Buffer.from(token.slice(-SIGNATURE_CHARS))
  const signature = Buffer.from(signatureOf(body, secret))
  if (presented.length !== signature.length || !timingSafeEqual(presented, signature)) return undefined
  return JSON.parse(Buffer.from(body.slice(PREFIX.length), 'base64url').toString()) as Pass
}
