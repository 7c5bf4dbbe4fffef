/** Failures of the Messages format: the table from a Failure to HTTP, and the reader of an upstream's errors. */
import { retryAfter } from '../core/retry-after.ts'
import { meaningOf } from '../../vendors/failure-meaning.ts'
import type { Failure, FailureKind, UpstreamFailure, UpstreamFailureKind } from '../../domain/failure.ts'
import { isAboutKey, writeFailure } from '../core/openai-failure.ts'
import { asFields, asText, ownIn, parseFields, textIn } from '../core/fields.ts'
import type { FailureReader, FailureWriter, WrittenFailure } from '../core/contract.ts'

type ErrorMapping = { readonly status: number; readonly type: string }

const request = (status: number): ErrorMapping => ({ status, type: 'invalid_request_error' })
const missing: ErrorMapping = { status: 404, type: 'not_found_error' }
const denied: ErrorMapping = { status: 403, type: 'permission_error' }
const limited: ErrorMapping = { status: 429, type: 'rate_limit_error' }
const conflict: ErrorMapping = { status: 409, type: 'conflict_error' }

/** Statuses and types are the dialect's. `details.error_code` has the gateway's own code. */
const table: Record<FailureKind, ErrorMapping> = {
  malformed_request: request(400),
  missing_parameter: request(400),
  invalid_value: request(400),
  invalid_type: request(400),
  unsupported_parameter: request(400),
  invalid_json: request(400),
  context_length: request(400),
  content_policy: request(400),
  upstream_rejected: request(400),
  model_not_supported: request(400),
  invalid_key: { status: 401, type: 'authentication_error' },
  insufficient_balance: { status: 402, type: 'billing_error' },
  account_suspended: denied,
  model_not_allowed: denied,
  model_not_found: missing,
  previous_response_not_found: missing,
  not_found: missing,
  expired: { status: 410, type: 'not_found_error' },
  method_not_allowed: request(405),
  request_too_large: { status: 413, type: 'request_too_large' },
  unsupported_media_type: request(415),
  rate_limited: limited,
  spend_limited: limited,
  idempotency_running: conflict,
  not_completed: conflict,
  idempotency_mismatch: request(422),
  idempotency_not_kept: conflict,
  request_timeout: { status: 408, type: 'timeout_error' },
  internal: { status: 500, type: 'api_error' },
  upstream_error: { status: 502, type: 'api_error' },
  upstream_timeout: { status: 504, type: 'timeout_error' },
  unavailable: { status: 529, type: 'overloaded_error' },
}

/** Writes a failure as `{"type":"error","error":{type,message,details},"request_id"}`. */
export function writeMessagesFailure(failure: Failure, requestId?: string): WrittenFailure {
  // The codes and the headers that control retries are the same in every dialect.
  const { code, headers } = writeFailure(failure)
  const { status, type } = table[failure.kind]
  const { unsupported } = failure
  const details = { error_code: code, ...(unsupported && { unsupported }) }
  const error = { type, message: failure.message, details }
  return { status, code, headers, body: JSON.stringify({ type: 'error', error, request_id: requestId ?? null }) }
}

export const messagesFailureWriter: FailureWriter = { write: writeMessagesFailure }

/** The meaning of an error's type. Other types are read by the status. */
const kinds: Readonly<Record<string, UpstreamFailureKind>> = {
  authentication_error: 'auth',
  permission_error: 'auth',
  billing_error: 'funds',
  request_too_large: 'context_length',
  rate_limit_error: 'rate',
  overloaded_error: 'overload',
  timeout_error: 'timeout',
  api_error: 'server',
  conflict_error: 'server',
}

/**
 * Codes in `details` for an account that has reached its spend limit or is closed. Waiting does not help (Anthropic,
 * 2026-11). They come with 429, 400 and 403.
 */
const FUNDS_CODE = /spend_limit|^ramp_limit_exceeded$|^organization_on_hold$/
/** The type is the same for every bad request. Only the text tells these apart. */
const FUNDS_WORDS = /^(?:\w+ ){0,6}spend(?:ing)? limit/i
const LENGTH_WORDS = /prompt is too long|exceeds? (?:the )?context (?:limit|window)|context window (?:is )?exceeded/i
const POLICY_WORDS = /content filtering policy|usage polic(?:y|ies)/i

function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'funds'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 413) return 'context_length'
  if (status === 429) return 'rate'
  if (status === 503 || status === 529) return 'overload'
  return status >= 400 && status < 500 && status !== 409 ? 'bad_request' : 'server'
}

function kindOf(type: string, status: number | undefined, words: string): UpstreamFailureKind {
  if (type === 'not_found_error' || (type === '' && status === 404)) {
    return /^(?:file|container|skill)/i.test(words) ? 'bad_request' : 'model_gone'
  }
  const named = ownIn(kinds, type) ?? (type === 'invalid_request_error' ? kindOfStatus(status ?? 400) : undefined)
  const kind = named ?? kindOfStatus(status ?? 500)
  // A proxy before the vendor may answer 503 with any type.
  if (kind === 'server' && status !== undefined) return kindOfStatus(status)
  if (kind !== 'bad_request') return kind
  if (FUNDS_WORDS.test(words)) return 'funds'
  if (LENGTH_WORDS.test(words)) return 'context_length'
  if (POLICY_WORDS.test(words)) return 'policy'
  return status === 400 && isAboutKey(words) ? 'auth' : 'bad_request'
}

const PLAIN_CODE = /^[\w.-]{1,64}$/

/** Classifies an error object from a response's body or from inside a stream, where there is no status. */
export function readMessagesError(status: number | undefined, body: unknown, retryAfterMs?: number): UpstreamFailure {
  const { error } = asFields(body)
  const fields = asFields(error)
  const words = textIn(error) ?? asText(fields['message'])
  const type = asText(fields['type'])
  const stated = textIn(asFields(fields['details'])['error_code'])
  const reason = stated !== undefined && PLAIN_CODE.test(stated) ? stated : undefined
  const byStatus = FUNDS_CODE.test(reason ?? '') ? 'funds' : kindOf(type, status, words)
  const codes = [reason, type].flatMap((one) => (one === undefined || one === '' ? [] : [one]))
  const meaning = meaningOf({ codes, message: words })
  const kind = meaning?.kind ?? byStatus
  // To a client a type is no code, but it is useful in the operator's record.
  const code = reason ?? (kind === 'bad_request' || !PLAIN_CODE.test(type) ? undefined : type)
  return {
    kind,
    ...meaning,
    message: words.slice(0, 1_000) || `the upstream answered ${status ?? 'with an error'}`,
    isQuoted: true,
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(PLAIN_CODE.test(type) ? { type } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

export const messagesFailures: FailureReader = {
  // Proxies answer in HTML, so only the status is known.
  response: (status, headers, body) => readMessagesError(status, parseFields(body), retryAfter(headers)),
  hidden(text) {
    const body = parseFields(text)
    return body?.['error'] ? readMessagesError(undefined, body) : undefined
  },
}
