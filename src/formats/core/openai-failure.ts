/**
 * Failures in OpenAI's envelope, which all its formats share: the one table from a Failure to HTTP, and the reader of
 * an upstream's errors.
 */
import type { Failure, FailureKind, UpstreamFailure, UpstreamFailureKind } from '../../domain/failure.ts'
import { meaningOf } from '../../vendors/failure-meaning.ts'
import { asFields, asList, numberIn, parseAnswer } from './fields.ts'
import type { HeaderFields } from '../../lib/http/message-head.ts'
import type { FailureReader, WrittenFailure } from './contract.ts'
import { retryAfter } from './retry-after.ts'

type ErrorMapping = { readonly status: number; readonly type: string; readonly code: string }

const request = (status: number, code: string): ErrorMapping => ({ status, type: 'invalid_request_error', code })

const table: Record<FailureKind, ErrorMapping> = {
  malformed_request: request(400, 'malformed_request'),
  missing_parameter: request(400, 'missing_required_parameter'),
  invalid_value: request(400, 'invalid_value'),
  invalid_type: request(400, 'invalid_type'),
  unsupported_parameter: request(400, 'unsupported_parameter'),
  invalid_json: request(400, 'invalid_json'),
  context_length: request(400, 'context_length_exceeded'),
  content_policy: request(400, 'content_policy_violation'),
  upstream_rejected: request(400, 'invalid_value'),
  model_not_supported: request(400, 'model_not_supported'),
  previous_response_not_found: request(400, 'previous_response_not_found'),
  invalid_key: request(401, 'invalid_api_key'),
  insufficient_balance: { status: 401, type: 'billing_error', code: 'insufficient_balance' },
  account_suspended: request(403, 'account_suspended'),
  model_not_allowed: request(403, 'model_not_allowed'),
  model_not_found: request(404, 'model_not_found'),
  not_found: request(404, 'not_found'),
  expired: request(410, 'expired'),
  method_not_allowed: request(405, 'method_not_allowed'),
  request_too_large: request(413, 'request_too_large'),
  unsupported_media_type: request(415, 'unsupported_media_type'),
  rate_limited: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  spend_limited: { status: 429, type: 'billing_error', code: 'spend_limit_exceeded' },
  idempotency_running: { status: 409, type: 'conflict_error', code: 'idempotency_in_progress' },
  idempotency_mismatch: request(422, 'idempotency_mismatch'),
  not_completed: { status: 409, type: 'conflict_error', code: 'task_not_completed' },
  idempotency_not_kept: { status: 409, type: 'conflict_error', code: 'idempotency_answer_not_kept' },
  request_timeout: request(408, 'request_timeout'),
  internal: { status: 500, type: 'server_error', code: 'internal_error' },
  upstream_error: { status: 502, type: 'upstream_error', code: 'upstream_error' },
  upstream_timeout: { status: 504, type: 'upstream_error', code: 'upstream_timeout' },
  unavailable: { status: 503, type: 'overloaded_error', code: 'service_unavailable' },
}

/** Every code of ours that stands for a kind of failure. A few failures have a more exact one. */
export const failureCodes: readonly string[] = [...new Set(Object.values(table).map(({ code }) => code))]

/** Writes a failure as `{"error":{message,type,param,code}}`, with the headers that control a client's retries. */
export function writeFailure(failure: Failure): WrittenFailure {
  const { status, type, code: kindCode } = table[failure.kind]
  const code = failure.code ?? kindCode
  const headers: Record<string, string> = {}
  if (failure.retryAfterMs !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000)))
  }
  if (failure.shouldRetry !== undefined) headers['x-should-retry'] = String(failure.shouldRetry)
  const body = JSON.stringify({ error: { message: failure.message, type, param: failure.param ?? null, code } })
  return { status, code, body, headers }
}

const policyCodes = new Set(['content_filter', 'content_policy_violation'])

function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'funds'
  if (status === 404) return 'model_gone'
  if (status === 408) return 'timeout'
  // The request is too large for this offer. Another offer may take it.
  if (status === 413) return 'context_length'
  if (status === 429) return 'rate'
  if (status === 503 || status === 529 || status === 498) return 'overload'
  return status >= 400 && status < 500 && status !== 409 ? 'bad_request' : 'server'
}

/** The form of a code. Anything else that a vendor puts there is prose. */
const PLAIN_CODE = /^[\w.-]{1,64}$/

type ErrorFields = { message?: unknown; code?: unknown; param?: unknown; type?: unknown }

/**
 * Finds the error object in the shapes that vendors of this format use: `{error:{…}}`, `{error:"…"}`, `{message}`, a
 * list of one, `{detail}`, Cloudflare's `{errors:[…]}`, and MiniMax's `base_resp`, which stands beside an answer
 * without choices.
 */
function errorFields(body: unknown): ErrorFields {
  const [only] = asList(body)
  const outer = asFields(only ?? body)
  const { error, errors, base_resp: base, message, msg, detail } = outer
  if (typeof error === 'string') return { ...outer, message: error }
  if (typeof error === 'object' && error !== null) return error
  const { status_code: code, status_msg: words } = asFields(base)
  if (typeof words === 'string') return { message: words, code }
  const [first] = asList(errors)
  if (first !== undefined && message === undefined) return asFields(first)
  return { ...outer, message: message ?? msg ?? detail }
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** The most complaints that one message shows. */
const COMPLAINTS_MAX = 10

/**
 * A message as text. Servers that validate by a schema list their complaints, `[{loc: ["body", "user"], msg}]`, in
 * `detail` or in place of the message (Mistral, vLLM; mozilla-ai/any-llm#679).
 */
function wordsIn(message: unknown): string {
  const { detail, loc, msg, message: inner } = asFields(message)
  if (Array.isArray(message)) return message.slice(0, COMPLAINTS_MAX).map(wordsIn).filter(Boolean).join('; ')
  if (detail !== undefined) return wordsIn(detail)
  const words = text(msg) ?? text(inner)
  if (words === undefined) return text(message) ?? ''
  const place = asList(loc)
    .filter((step) => step !== 'body')
    .map(text)
    .join('.')
  return place === '' ? words : `${place}: ${words}`
}

/**
 * Whether a message is about our key. Only the beginning of the message counts. The rest may quote the request, and its
 * author could then rest the vendor's offers for everybody (xAI, Google and others answer a wrong key with 400,
 * 2026-08).
 */
export const isAboutKey = (words: string): boolean =>
  /^(?:your )?(?:api.?key|(?:incorrect|invalid|missing|expired|no) api.?key)\b(?! ?['"`])/i.test(words)

const namesThing = ({ param }: ErrorFields, words: string): boolean =>
  (typeof param === 'string' && param !== 'model') || /^(?:no such )?(?:files?|image|prompt|container)\b/i.test(words)

/** Classifies an error object from a response's body or from inside a stream. */
export function readUpstreamError(status: number | undefined, body: unknown, retryAfterMs?: number): UpstreamFailure {
  const fields = errorFields(body)
  const stated = text(fields.code)
  const code = stated !== undefined && PLAIN_CODE.test(stated) ? stated : undefined
  const type = text(fields.type)
  const named = stated ?? text(fields.type) ?? ''
  const numeric = Number(fields.code)
  // The status of a stream was 200. OpenRouter and Ark put the real status into the code.
  const known = status ?? (numeric >= 400 && numeric < 600 ? numeric : 500)
  let kind = kindOfStatus(known)
  const words = wordsIn(fields.message)
  // If the request names the missing thing, the request is at fault. If the model or route is missing, the offer is.
  if (known === 404 && namesThing(fields, words)) kind = 'bad_request'
  if (known === 400 && (named === 'invalid_api_key' || isAboutKey(words))) kind = 'auth'
  if (policyCodes.has(named) && kind === 'bad_request') kind = 'policy'
  else if (named === 'rate_limit_exceeded' && known !== 413) kind = 'rate'
  const codes = [fields.code, fields.type].flatMap((value) => text(value) ?? [])
  const param = text(fields.param)?.slice(0, 200)
  return {
    kind,
    ...meaningOf({ codes, message: words }),
    message: words.slice(0, 1_000) || `the upstream answered ${known}`,
    isQuoted: true,
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(type !== undefined && PLAIN_CODE.test(type) ? { type } : {}),
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** Reads an upstream's error response. */
function readUpstreamFailure(status: number, headers: HeaderFields, body: string): UpstreamFailure {
  let parsed: unknown
  try {
    parsed = parseAnswer(body)
  } catch {
    parsed = undefined // Proxies answer in HTML, so only the status is known.
  }
  return readUpstreamError(status, parsed, retryAfter(headers))
}

/** The error in a body that came with 200. The body must have the parts of an error and none of an answer. */
export function hiddenError(body: unknown): UpstreamFailure | undefined {
  const { error, base_resp: base, object, code, message, choices, data, output } = asFields(body)
  if (error) return readUpstreamError(undefined, body)
  if (asList(choices ?? data ?? output).length > 0) return undefined
  const isRefused = (numberIn(asFields(base)['status_code']) ?? 0) !== 0
  // A message alone may be a vendor's keep-alive.
  const isTold = typeof message === 'string' && (text(code) ?? meaningOf({ codes: [], message })) !== undefined
  return isRefused || isTold || object === 'error' ? readUpstreamError(undefined, body) : undefined
}

export const chatFailures: FailureReader = {
  response: readUpstreamFailure,
  hidden(text) {
    try {
      return hiddenError(parseAnswer(text))
    } catch {
      return undefined // Not JSON, so not a readable error.
    }
  },
}
