import { limit } from '../lib/primitives/limit.ts'

/**
 * Everything that can go wrong with a client's request, as one closed set. The status, type and code a client sees for
 * a kind live in one table per format (`formats/chat/failure.ts`), nowhere else.
 */
export type FailureKind =
  | 'malformed_request'
  | 'missing_parameter'
  | 'invalid_value'
  | 'invalid_type'
  | 'unsupported_parameter'
  | 'invalid_json'
  | 'context_length'
  | 'content_policy'
  | 'upstream_rejected'
  | 'model_not_supported'
  | 'previous_response_not_found'
  | 'invalid_key'
  | 'insufficient_balance'
  | 'account_suspended'
  | 'model_not_allowed'
  | 'model_not_found'
  | 'not_found'
  | 'expired'
  | 'method_not_allowed'
  | 'request_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'spend_limited'
  | 'idempotency_running'
  | 'idempotency_mismatch'
  | 'idempotency_not_kept'
  /** Of what is still being made. */
  | 'not_completed'
  | 'request_timeout'
  | 'internal'
  | 'upstream_error'
  | 'upstream_timeout'
  | 'unavailable'

export type Failure = {
  readonly kind: FailureKind
  /** Written for the client: what is wrong and what would help. Never holds secrets, hosts or upstream internals. */
  readonly message: string
  /** The request field at fault, as a path: `messages[0].role`. */
  readonly param?: string
  /** A vendor's own code, kept when its rejection of the request is passed on. */
  readonly code?: string
  /** What of the request is not supported, where a dialect has a place for such a list and its clients act on it. */
  readonly unsupported?: readonly string[]
  readonly retryAfterMs?: number
  /** Overrides the SDKs' default of retrying by status. */
  readonly shouldRetry?: boolean
}

/** What an attempt at one offer can fail with. The router decides on `kind` alone. */
export type UpstreamFailureKind =
  | 'bad_request'
  | 'context_length'
  | 'policy'
  | 'auth'
  | 'funds'
  | 'model_gone'
  | 'rate'
  | 'overload'
  | 'timeout'
  | 'server'
  /** The connection broke: the upstream may have been at work, and may bill for it. */
  | 'network'
  /** There was no connection: the upstream cannot know of the request. */
  | 'unreachable'
  /** It gave up an answer that had to wait for memory of ours: no fault of its own, and it may bill. */
  | 'unread'
  | 'garbage'

export type UpstreamFailure = {
  readonly kind: UpstreamFailureKind
  /** The upstream's status, when there was one. */
  readonly status?: number
  /** For the client when the request itself is at fault, for the operator otherwise. */
  readonly message: string
  /** Its message is the upstream's own, which may quote the prompt or the credential. */
  readonly isQuoted?: true
  /** More came than an answer can need: it breaks an answer that was complete by then, too. */
  readonly isExcess?: true
  /** What may be kept of that for the operator. */
  readonly keptMessage?: string
  /** The words of its message that its kind was judged by. */
  readonly evidence?: string
  /**
   * These words are in the request as well, or an answer failed in a way that its request can bring about: its author
   * must not rest an offer for everybody.
   */
  readonly isDoubtful?: true
  readonly code?: string
  /** The vendor's word for the kind of error, where it is another than its code. */
  readonly type?: string
  /** The vendor's id of the request, which its support asks for. */
  readonly requestId?: string
  readonly param?: string
  readonly retryAfterMs?: number
}

/** No upstream's wish to be left alone is believed for longer, nor passed on: some ask for a year. */
export const RETRY_AFTER_MS_MAX = limit(
  'retryAfterMs',
  300_000,
  'A longer Retry-After of an upstream is cut to this, and so is a rest.',
)

/**
 * Failures that are the request's own fault: never held against the offer, and given to the client where no offer is
 * left. What is too long for one offer may fit another; what is wrong, or refused for its content, is so everywhere.
 */
export const isRequestFault = (kind: UpstreamFailureKind): boolean =>
  kind === 'bad_request' || kind === 'context_length' || kind === 'policy'

/** Of those the ones that no other offer would take. */
export const isFinalFault = (kind: UpstreamFailureKind): boolean => isRequestFault(kind) && kind !== 'context_length'
