/** What the failure of an attempt means for the attempts after it. */
import { isFinalFault, type UpstreamFailure } from '../domain/failure.ts'
import type { AttemptResult, FailedAttempt } from './prepared-attempt.ts'

/**
 * A whole reply that timed out may have been made and billed. Another vendor would mean paying twice for one answer. If
 * the vendor itself reports the timeout, it has given up.
 */
export const mayHaveBeenMade = ({ kind, isQuoted }: UpstreamFailure, isWhole: boolean): boolean =>
  kind === 'unread' || (kind === 'timeout' && isWhole && !isQuoted)

/**
 * Whether an upstream refuses to stream what it may send in one piece: "Your organization must be verified to stream
 * this model" (OpenAI, github.com/charmbracelet/crush/issues/1216, 2025-10).
 */
export const refusesStream = (tried: AttemptResult): tried is FailedAttempt =>
  tried.kind === 'failed' && tried.failure.kind === 'bad_request' && /\bstream/i.test(tried.failure.message)

/** Whether a request is valid but too much for this offer: too long, or not expressible in its dialect. */
export const isBeyond = ({ kind, isQuoted }: UpstreamFailure): boolean =>
  kind === 'context_length' || (kind === 'bad_request' && !isQuoted)

/** Whether the request itself is at fault, so that every vendor would refuse it. */
export const isRefusal = (failure: UpstreamFailure): boolean => isFinalFault(failure.kind) && !isBeyond(failure)
