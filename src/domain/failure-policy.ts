/** Decides how much of a failure each reader may see. */
import type { Failure, FailureKind, UpstreamFailure } from './failure.ts'

/**
 * The failure that the client sees if the last attempt failed like this. Only faults of the request keep their message.
 */
export function failureForClient(failure: UpstreamFailure): Failure {
  switch (failure.kind) {
    case 'bad_request':
    case 'policy':
    case 'context_length':
      return {
        kind: failure.kind === 'policy' ? 'content_policy' : rejectionOf(failure),
        message: failure.message,
        ...(failure.param === undefined ? {} : { param: failure.param }),
        ...(failure.kind === 'bad_request' && failure.code !== undefined ? { code: failure.code } : {}),
      }
    case 'timeout':
      return { kind: 'upstream_timeout', message: 'The upstream did not answer in time. Nothing was charged.' }
    case 'unread':
      return {
        kind: 'unavailable',
        message: 'The gateway had no memory left for the answer. Nothing was charged; try again shortly.',
        retryAfterMs: 2_000,
      }
    case 'rate':
    case 'overload':
      return {
        kind: 'unavailable',
        message: 'Every upstream for this model is at its limit. Nothing was charged; try again shortly.',
        retryAfterMs: failure.retryAfterMs ?? 2_000,
      }
    case 'auth':
    case 'funds':
    case 'model_gone':
      return {
        kind: 'unavailable',
        message: 'No upstream can serve this model at the moment. Nothing was charged; the operator has the details.',
        // Only the operator can fix it. An SDK that retries would make its user wait a minute for the same answer.
        shouldRetry: false,
      }
    case 'server':
    case 'network':
    case 'unreachable':
    case 'garbage':
      return { kind: 'upstream_error', message: 'The upstream failed to answer. Nothing was charged.' }
  }
}

function rejectionOf({ kind, status, code }: UpstreamFailure): FailureKind {
  if (kind === 'bad_request') return status === 413 ? 'request_too_large' : 'upstream_rejected'
  // Without a code for the context, all that is known is that the request is too large.
  return status === 413 && code !== 'context_length_exceeded' ? 'request_too_large' : 'context_length'
}
