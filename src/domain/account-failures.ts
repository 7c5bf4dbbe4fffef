/** Failures of a key or an account that may do nothing. */
import type { Failure } from './failure.ts'

export const INVALID_KEY: Failure = {
  kind: 'invalid_key',
  message: 'The API key is missing, malformed, unknown or revoked. Send it as: Authorization: Bearer <key>.',
}
export const SUSPENDED: Failure = { kind: 'account_suspended', message: 'This account is suspended.' }
