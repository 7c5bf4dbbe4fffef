/** Failures of Gemini's API: the one table from a Failure to HTTP, and the reader of an upstream's errors. */
import { retryAfter } from './retry-after.ts'
import { meaningOf } from '../../vendors/failure-meaning.ts'
import {
  RETRY_AFTER_MS_MAX,
  type Failure,
  type FailureKind,
  type UpstreamFailure,
  type UpstreamFailureKind,
} from '../../domain/failure.ts'
import { asFields, asList, asText, numberIn, parseAnswer, type Fields } from './fields.ts'
import type { FailureReader, WrittenFailure } from './contract.ts'

type ErrorMapping = { readonly http: number; readonly status: string; readonly code: string }

const invalid = (code: string, http = 400): ErrorMapping => ({ http, status: 'INVALID_ARGUMENT', code })
const row = (http: number, status: string, code: string): ErrorMapping => ({ http, status, code })

/** The statuses are those of every other dialect, except 402 for money. Google's clients take a 401 for a wrong key. */
const table: Record<FailureKind, ErrorMapping> = {
  malformed_request: invalid('malformed_request'),
  missing_parameter: invalid('missing_required_parameter'),
  invalid_value: invalid('invalid_value'),
  invalid_type: invalid('invalid_type'),
  unsupported_parameter: invalid('unsupported_parameter'),
  invalid_json: invalid('invalid_json'),
  context_length: invalid('context_length_exceeded'),
  content_policy: invalid('content_policy_violation'),
  upstream_rejected: invalid('invalid_value'),
  model_not_supported: invalid('model_not_supported'),
  invalid_key: row(401, 'UNAUTHENTICATED', 'invalid_api_key'),
  insufficient_balance: row(402, 'FAILED_PRECONDITION', 'insufficient_balance'),
  account_suspended: row(403, 'PERMISSION_DENIED', 'account_suspended'),
  model_not_allowed: row(403, 'PERMISSION_DENIED', 'model_not_allowed'),
  model_not_found: row(404, 'NOT_FOUND', 'model_not_found'),
  previous_response_not_found: row(400, 'INVALID_ARGUMENT', 'previous_response_not_found'),
  not_found: row(404, 'NOT_FOUND', 'not_found'),
  expired: row(410, 'NOT_FOUND', 'expired'),
  method_not_allowed: row(405, 'UNIMPLEMENTED', 'method_not_allowed'),
  request_too_large: invalid('request_too_large', 413),
  unsupported_media_type: invalid('unsupported_media_type', 415),
  rate_limited: row(429, 'RESOURCE_EXHAUSTED', 'rate_limit_exceeded'),
  spend_limited: row(429, 'RESOURCE_EXHAUSTED', 'spend_limit_exceeded'),
  not_completed: row(409, 'ABORTED', 'task_not_completed'),
  idempotency_running: row(409, 'ABORTED', 'idempotency_in_progress'),
  idempotency_mismatch: invalid('idempotency_mismatch', 422),
  idempotency_not_kept: row(409, 'ABORTED', 'idempotency_answer_not_kept'),
  request_timeout: row(408, 'DEADLINE_EXCEEDED', 'request_timeout'),
  internal: row(500, 'INTERNAL', 'internal_error'),
  upstream_error: row(502, 'UNAVAILABLE', 'upstream_error'),
  upstream_timeout: row(504, 'DEADLINE_EXCEEDED', 'upstream_timeout'),
  unavailable: row(503, 'UNAVAILABLE', 'service_unavailable'),
}

const typeUrl = (name: string): string => `type.googleapis.com/google.rpc.${name}`

/** Writes a failure as Google does: `{"error":{code,message,status,details}}`. The reason is our code. */
export function writeGeminiFailure(failure: Failure): WrittenFailure {
  const { http, status, code: kindCode } = table[failure.kind]
  const code = failure.code ?? kindCode
  const details: object[] = [{ '@type': typeUrl('ErrorInfo'), reason: kindCode.toUpperCase(), domain: 'tollgate' }]
  if (failure.param !== undefined) {
    const fieldViolations = [{ field: failure.param, description: failure.message }]
    details.push({ '@type': typeUrl('BadRequest'), fieldViolations })
  }
  const headers: Record<string, string> = {}
  if (failure.retryAfterMs !== undefined) {
    const seconds = Math.max(1, Math.ceil(failure.retryAfterMs / 1000))
    headers['retry-after'] = String(seconds)
    details.push({ '@type': typeUrl('RetryInfo'), retryDelay: `${seconds}s` })
  }
  if (failure.shouldRetry !== undefined) headers['x-should-retry'] = String(failure.shouldRetry)
  const body = JSON.stringify({ error: { code: http, message: failure.message, status, details } })
  return { status: http, code, body, headers }
}

/** The error object. A whole response wraps it in a list if a stream was requested without `alt=sse`. */
const errorOf = (body: unknown): Fields => asFields(asFields(Array.isArray(body) ? body[0] : body)['error'])

const detailsOf = (error: Fields, name: string): Fields[] =>
  asList(error['details'])
    .map(asFields)
    .filter((detail) => asText(detail['@type']).endsWith(`.${name}`))

function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'funds'
  if (status === 404) return 'model_gone'
  if (status === 408) return 'timeout'
  if (status === 413) return 'context_length'
  if (status === 429) return 'rate'
  if (status === 503 || status === 529) return 'overload'
  return status >= 400 && status < 500 && status !== 409 && status !== 499 ? 'bad_request' : 'server'
}

/** Google answers a wrong key, a closed region and an unpaid bill with 400, and an exhausted daily quota with 429. */
function kindOf(status: number, error: Fields): UpstreamFailureKind {
  const words = asText(error['message'])
  const reasons = detailsOf(error, 'ErrorInfo').map(({ reason }) => asText(reason))
  const kind = kindOfStatus(status)
  if (status === 400) {
    if (/^api key (?:not valid|expired|not found)/i.test(words) || reasons.some((one) => one.startsWith('API_KEY_'))) {
      return 'auth'
    }
    if (error['status'] === 'FAILED_PRECONDITION') return /billing|prepa|credit/i.test(words) ? 'funds' : 'auth'
    if (/user location is not supported/i.test(words)) return 'auth'
    if (/token count|maximum number of tokens/i.test(words) && /exceed/i.test(words)) return 'context_length'
  }
  if (status === 403 && /billing/i.test(words)) return 'funds'
  // A file or a cached context that the request names is the request's fault, not the model's.
  if (status === 404 && /cachedcontent|cached content|\bfiles?\b/i.test(words)) return 'bad_request'
  if (status === 429) {
    const quotas = detailsOf(error, 'QuotaFailure').flatMap(({ violations }) => asList(violations).map(asFields))
    const isSpent = quotas.some(({ quotaId }) => /per_?day/i.test(asText(quotaId)))
    if (isSpent || /credits? (?:are|is) depleted|spending cap|spend limit/i.test(words)) return 'funds'
  }
  return kind
}

const DURATION = /^(\d+(?:\.\d+)?)s$/

/** `RetryInfo.retryDelay: "34.4s"`. */
function retryDelayOf(error: Fields): number | undefined {
  const [, seconds] = DURATION.exec(asText(detailsOf(error, 'RetryInfo')[0]?.['retryDelay'])) ?? []
  return seconds === undefined ? undefined : Math.min(Math.ceil(Number(seconds) * 1000), RETRY_AFTER_MS_MAX)
}

/** The form of a status name. Anything else is prose. */
const PLAIN_CODE = /^[\w.-]{1,64}$/

/** Classifies an error from a response's body or from inside a stream. In a stream the error itself has the status. */
export function readGeminiError(status: number | undefined, body: unknown, retryAfterMs?: number): UpstreamFailure {
  const error = errorOf(body)
  const stated = numberIn(error['code'])
  const known = status ?? (stated !== undefined && stated >= 400 && stated < 600 ? stated : 500)
  const reasons = detailsOf(error, 'ErrorInfo').map(({ reason }) => asText(reason))
  const meaning = meaningOf({ codes: reasons, message: asText(error['message']) })
  const kind = meaning?.kind ?? kindOf(known, error)
  const waitMs = retryAfterMs ?? retryDelayOf(error)
  const name = asText(error['status'])
  const field = asList(detailsOf(error, 'BadRequest')[0]?.['fieldViolations']).map(asFields)[0]?.['field']
  return {
    kind,
    ...meaning,
    message: asText(error['message']).slice(0, 1_000) || `the upstream answered ${known}`,
    isQuoted: true,
    ...(status === undefined ? {} : { status }),
    // The client of a rejected request gets the codes of its own dialect.
    ...(PLAIN_CODE.test(name) && kind !== 'bad_request' ? { code: name } : {}),
    ...(reasons[0] !== undefined && PLAIN_CODE.test(reasons[0]) ? { type: reasons[0] } : {}),
    ...(typeof field === 'string' ? { param: field.slice(0, 200) } : {}),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  }
}

function parsed(text: string): unknown {
  try {
    return parseAnswer(text)
  } catch {
    return undefined // Proxies answer in HTML, so only the status is known.
  }
}

export const geminiFailures: FailureReader = {
  response: (status, headers, body) => readGeminiError(status, parsed(body), retryAfter(headers)),
  hidden(text) {
    const body = parsed(text)
    return Object.keys(errorOf(body)).length > 0 ? readGeminiError(undefined, body) : undefined
  },
}
