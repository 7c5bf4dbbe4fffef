import { limit } from '../lib/primitives/limit.ts'

/**
 * Everything that can go wrong with a client's request, as one closed set. The status, type and code of a kind are in
 * one table for each error envelope in formats/, nowhere else.
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
  /** The requested object is not finished yet. */
  | 'not_completed'
  | 'request_timeout'
  | 'internal'
  | 'upstream_error'
  | 'upstream_timeout'
  | 'unavailable'

export type Failure = {
  readonly kind: FailureKind
  /** Written for the client: what is wrong and what would help. Never contains secrets, hosts or upstream internals. */
  readonly message: string
  /** The path of the request field at fault: `messages[0].role`. */
  readonly param?: string
  /** A vendor's own code, kept if its rejection of the request goes to the client. */
  readonly code?: string
  /** The unsupported parts of the request, for dialects whose clients act on such a list. */
  readonly unsupported?: readonly string[]
  readonly retryAfterMs?: number
  /** Overrides the SDKs' default of retrying by status. */
  readonly shouldRetry?: boolean
}

/** How an attempt at one offer can fail. The router decides by `kind` alone. */
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
  /** The connection broke. The upstream may have worked and may bill for it. */
  | 'network'
  /** There was no connection, so the upstream cannot know of the request. */
  | 'unreachable'
  /** The upstream gave up an answer that waited for memory of the gateway. It is not at fault, and it may bill. */
  | 'unread'
  | 'garbage'

export type UpstreamFailure = {
  readonly kind: UpstreamFailureKind
  /** The upstream's status, if there was one. */
  readonly status?: number
  /** For the client if the request itself is at fault, otherwise for the operator. */
  readonly message: string
  /** The message is the upstream's own, which may quote the prompt or the credential. */
  readonly isQuoted?: true
  /** More arrived than an answer can need. This breaks even an answer that was already complete. */
  readonly isExcess?: true
  /** The part of the message that may be stored for the operator. */
  readonly keptMessage?: string
  /** The words of the message that decided its kind. */
  readonly evidence?: string
  /**
   * The request may have caused this failure: it contains the deciding words, or can make an answer fail this way. Its
   * author must not be able to rest an offer for everybody.
   */
  readonly isDoubtful?: true
  readonly code?: string
  /** The vendor's type of the error, if it differs from its code. */
  readonly type?: string
  /** The vendor's id of the request, for its support. */
  readonly requestId?: string
  readonly param?: string
  readonly retryAfterMs?: number
}

/** A longer Retry-After of an upstream is neither believed nor passed on. Some upstreams ask for a year. */
export const RETRY_AFTER_MS_MAX = limit(
  'retryAfterMs',
  300_000,
  'A longer Retry-After of an upstream, or a longer rest of an offer, is shortened to this.',
)

/**
 * Whether the request itself is at fault. Such a failure never counts against the offer, and the client gets it if no
 * offer is left. A request that is too long for one offer may fit another. A request that is wrong, or refused for its
 * content, fails everywhere.
 */
export const isRequestFault = (kind: UpstreamFailureKind): boolean =>
  kind === 'bad_request' || kind === 'context_length' || kind === 'policy'

/** Whether the request is at fault in a way that no other offer would accept. */
export const isFinalFault = (kind: UpstreamFailureKind): boolean => isRequestFault(kind) && kind !== 'context_length'
