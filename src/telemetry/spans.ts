/**
 * Spans as JSON: one of kind SERVER for each request (semantic conventions for HTTP) and one of kind CLIENT for each
 * attempt (for generative AI, 1.41.1, 2026-05-11). They have names and numbers only: no prompt, no output, no message.
 */
import { inputTokens, outputTokens } from '../domain/usage.ts'
import { randomSpanId } from '../lib/http/trace-context.ts'
import type { FinishedAttempt, FinishedRequest, ServedAttempt } from './finished-request.ts'
import {
  doubleAttribute,
  intAttribute,
  nanosText,
  textAttribute,
  trueAttribute,
  type AttributeText,
} from './otlp-json.ts'
import type { RequestTrace } from './request-trace.ts'

const SERVER = 2
const CLIENT = 3
const INTERNAL = 1
/** `trace_flags` of a sampled span, and whether its parent is in another process (SpanFlags of OTLP). */
const LOCAL = 0x1_01
const REMOTE = 0x3_01
const ERROR = ',"status":{"code":2}'

export type RequestScheme = 'http' | 'https'

/** A request that was refused before its money was held. */
export type RefusedSpan = {
  readonly requestId: string
  readonly status: number
  readonly code: string
  readonly accountId: string | undefined
}

type SpanText = {
  readonly trace: RequestTrace
  readonly spanId: string
  /** JSON. */
  readonly name: string
  readonly kind: number
  readonly parent: { readonly spanId: string; readonly flags: number } | undefined
  readonly startUnixMs: number
  readonly tookMs: number
  readonly attributes: AttributeText
  readonly error: string | undefined
}

function spanText({ trace, spanId, name, kind, parent, startUnixMs, tookMs, attributes, error }: SpanText): string {
  const { traceId, state } = trace.ids
  const place = parent ? `,"parentSpanId":"${parent.spanId}","flags":${parent.flags}` : `,"flags":${LOCAL}`
  const stated = state === undefined ? '' : `,"traceState":${JSON.stringify(state)}`
  const times = `"startTimeUnixNano":"${nanosText(startUnixMs)}","endTimeUnixNano":"${nanosText(startUnixMs + tookMs)}"`
  const failed = error === undefined ? '' : ERROR
  return `{"traceId":"${traceId}","spanId":"${spanId}"${stated}${place},"name":${name},"kind":${kind},${times},"attributes":[${attributes}]${failed}}`
}

const parentOf = ({ ids: { parentSpanId } }: RequestTrace): SpanText['parent'] =>
  parentSpanId === undefined ? undefined : { spanId: parentSpanId, flags: REMOTE }

/** Methods of HTTP. Another one is the client's own text. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT'])

type HttpSpan = { readonly name: string; readonly attributes: AttributeText }

function httpSpan({ arrival }: RequestTrace, scheme: RequestScheme, status: number): HttpSpan {
  const { method, path, isRoute } = arrival
  const isKnown = methods.has(method)
  const spanName = isRoute ? `${isKnown ? method : 'HTTP'} ${path}` : isKnown ? method : 'HTTP'
  const attributes = [
    textAttribute('http.request.method', isKnown ? method : '_OTHER'),
    textAttribute('url.scheme', scheme),
    textAttribute('url.path', path),
    ...(isRoute ? [textAttribute('http.route', path)] : []),
    intAttribute('http.response.status_code', status),
  ]
  return { name: JSON.stringify(spanName), attributes: attributes.join(',') }
}

export type SpanWriting = {
  readonly scheme: RequestScheme
  /** Unix time at the zero of `performance.now()`. */
  readonly zeroUnixMs: number
}

/** The spans of a request that held money, with commas between them. */
export function requestSpans(
  { record, error, attempts }: FinishedRequest,
  trace: RequestTrace,
  { scheme, zeroUnixMs }: SpanWriting,
): string {
  const startUnixMs = zeroUnixMs + trace.arrival.startedMs
  const http = trace.arrival.isTask ? undefined : httpSpan(trace, scheme, record.status)
  const own = [
    ...(http ? [http.attributes] : []),
    ...(error === undefined ? [] : [textAttribute('error.type', error)]),
    textAttribute('tollgate.request.id', record.id),
    textAttribute('tollgate.account.id', record.accountId),
    textAttribute('tollgate.model', record.model),
    textAttribute('tollgate.outcome', record.outcome),
    ...(record.errorCode === undefined ? [] : [textAttribute('tollgate.error.code', record.errorCode)]),
    intAttribute('tollgate.charged_nano_usd', record.charged),
    intAttribute('tollgate.upstream_cost_nano_usd', record.upstreamCost),
  ]
  let text = spanText({
    trace,
    spanId: trace.spanId,
    name: http?.name ?? JSON.stringify(record.endpoint),
    kind: http ? SERVER : INTERNAL,
    parent: parentOf(trace),
    startUnixMs,
    tookMs: record.totalMs,
    attributes: own.join(','),
    error,
  })
  for (const attempt of attempts) text += `,${attemptSpan(attempt, { record, trace, startUnixMs })}`
  return text
}

type AttemptSpanOwner = Pick<FinishedRequest, 'record'> & {
  readonly trace: RequestTrace
  readonly startUnixMs: number
}

function attemptSpan(
  { note, target, tookMs, error, served }: FinishedAttempt,
  { record, trace, startUnixMs }: AttemptSpanOwner,
): string {
  const attributes = [target.withError(error), textAttribute('tollgate.provider.id', note.providerId)]
  if (note.status !== undefined) attributes.push(intAttribute('http.response.status_code', note.status))
  if (note.requestId !== undefined) attributes.push(textAttribute('tollgate.upstream.request_id', note.requestId))
  if (record.stream) attributes.push(trueAttribute('gen_ai.request.stream'))
  if (served) attributes.push(...servedAttributes(record, served))
  return spanText({
    trace,
    spanId: trace.takeAttempt(note.offerId) ?? randomSpanId(),
    name: target.spanName,
    kind: CLIENT,
    parent: { spanId: trace.spanId, flags: LOCAL },
    startUnixMs: startUnixMs + note.startedMs,
    tookMs,
    attributes: attributes.join(','),
    error,
  })
}

/** The tokens that were billed. They are on no other span, so that a sum over spans counts them once. */
function servedAttributes(
  { usage, usageSource }: FinishedRequest['record'],
  { firstEventMs }: ServedAttempt,
): AttributeText[] {
  const isTimed = firstEventMs !== undefined
  const attributes = isTimed ? [doubleAttribute('gen_ai.response.time_to_first_chunk', firstEventMs / 1000)] : []
  if (usageSource === undefined) return attributes
  const { inputCached, cacheWrite5m, cacheWrite1h, outputReasoning } = usage
  attributes.push(
    intAttribute('gen_ai.usage.input_tokens', inputTokens(usage)),
    intAttribute('gen_ai.usage.output_tokens', outputTokens(usage)),
  )
  const written = cacheWrite5m + cacheWrite1h
  if (inputCached > 0) attributes.push(intAttribute('gen_ai.usage.cache_read.input_tokens', inputCached))
  if (written > 0) attributes.push(intAttribute('gen_ai.usage.cache_creation.input_tokens', written))
  if (outputReasoning > 0) attributes.push(intAttribute('gen_ai.usage.reasoning.output_tokens', outputReasoning))
  return attributes
}

/** The span of a refused request. */
export function refusedSpan(
  { requestId, status, code, accountId }: RefusedSpan,
  trace: RequestTrace,
  { scheme, zeroUnixMs, endMs }: SpanWriting & { readonly endMs: number },
): string {
  const error = status >= 500 ? code : undefined
  const http = httpSpan(trace, scheme, status)
  const { startedMs } = trace.arrival
  const attributes = [
    http.attributes,
    ...(error === undefined ? [] : [textAttribute('error.type', error)]),
    textAttribute('tollgate.request.id', requestId),
    ...(accountId === undefined ? [] : [textAttribute('tollgate.account.id', accountId)]),
    textAttribute('tollgate.error.code', code),
  ]
  return spanText({
    trace,
    spanId: trace.spanId,
    name: http.name,
    kind: SERVER,
    parent: parentOf(trace),
    startUnixMs: zeroUnixMs + startedMs,
    tookMs: Math.max(0, endMs - startedMs),
    attributes: attributes.join(','),
    error,
  })
}
