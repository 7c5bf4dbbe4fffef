/**
 * One attempt at one offer: signs, sends, waits for the upstream, and names the failure. It knows vendors and HTTP, but
 * neither money nor the client.
 */
import { secretsOf, type Provider } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import type { BytesAnswer, TypedBytes } from '../formats/core/bytes-answer.ts'
import type { FailureReader, UpstreamRequest } from '../formats/core/contract.ts'
import { readBytes } from '../outbound/bytes.ts'
import type { NetworkFailure, OutboundResult } from '../outbound/exchange.ts'
import { ERROR_BYTES_MAX, outbound, type OutboundRequest, type WholeResult } from '../outbound/send.ts'
import { AwsEventDecoder } from '../lib/http/aws-event-stream.ts'
import { inOwnTurn } from '../lib/primitives/long-text.ts'
import type { HeaderFields } from '../lib/http/message-head.ts'
import { readText } from '../outbound/text.ts'
import type { Preset } from '../vendors/preset.ts'
import { BytesDecoder } from './bytes-decoder.ts'
import type { Headers, Sign } from './access-tokens.ts'
import { sendAs, type Sends } from './credentials.ts'
import { withExtraHeaders, withExtraQuery } from './extras.ts'
import { EventReader } from './event-reader.ts'
import { InFlightAttempt, type Stoppable } from './in-flight-attempt.ts'
import { requestIdIn, requestIdInText } from './request-id.ts'

/** The target of an attempt: a provider, its preset, and the reader of its failures. */
export type Target = { readonly provider: Provider; readonly preset: Preset; readonly failures: FailureReader }

export type AttemptLimits = {
  /** For a stream: the silence allowed before the first event. For a whole reply: the time it may take. */
  readonly firstEventTimeoutMs: number
  /**
   * The silence allowed between two events. It counts events, not bytes, because keep-alive comments are no progress.
   */
  readonly eventGapTimeoutMs: number
  readonly replyBytesMax: number
  readonly eventCharsMax: number
  /** The answer is expensive and billed every time, so it needs a connection that cannot have been closed. */
  readonly sendOnce?: boolean | undefined
  /** Whether a whole reply to a request for a stream is accepted. */
  readonly takesWhole?: boolean | undefined
  /** The headers that tell the upstream of the trace, if there is one. */
  readonly trace?: Headers | undefined
  /** The owner of the attempt, which can stop it. */
  readonly owner: Stoppable
}

type FailedExchange = { readonly kind: 'failed'; readonly failure: UpstreamFailure }
type Reply = { readonly kind: 'reply'; readonly text: string }
export type WholeAttempt = Reply | FailedExchange
export type BytesAttempt =
  | { readonly kind: 'bytes'; readonly content: TypedBytes }
  | { readonly kind: 'stream'; readonly events: EventReader; readonly contentType: string }
  | FailedExchange
export type StreamAttempt = { readonly kind: 'stream'; readonly events: EventReader } | Reply | FailedExchange

type PreparedSend = {
  readonly target: Target
  readonly request: UpstreamRequest
  readonly flight: InFlightAttempt
  readonly limits: AttemptLimits
}

/** The parts that all requests of a kind share. */
type RequestTemplate = Pick<OutboundRequest, 'url' | 'headers'> & {
  readonly own: Headers
  readonly options: Provider['options']
}

/** The last template by credential. Requests to a provider are mostly of one kind. */
const requestTemplates = new WeakMap<Headers, RequestTemplate>()

function requestTemplateOf(
  provider: Provider,
  { path, headers: own, upload }: UpstreamRequest,
  credential: Headers,
): RequestTemplate {
  const { options } = provider
  const url = provider.baseUrl + (options ? withExtraQuery(path, provider) : path)
  const last = upload ? undefined : requestTemplates.get(credential)
  // An exchanged credential stays valid when its provider's address or headers change.
  if (last?.url === url && last.own === own && last.options === options) return last
  const headers = {
    'content-type': upload?.contentType ?? 'application/json',
    ...withExtraHeaders(own, provider),
    ...credential,
  }
  const made = { own, options, url, headers }
  if (!upload) requestTemplates.set(credential, made)
  return made
}

function requestOf(
  { target: { provider }, request, flight, limits }: PreparedSend,
  credential: Headers,
  sign: Sign | undefined,
): OutboundRequest {
  const { method = 'POST', body, upload } = request
  const { url, headers } = requestTemplateOf(provider, request, credential)
  const sent = method === 'GET' ? undefined : (upload ?? body)
  const { trace: ownHeaders, sendOnce } = limits
  const { reach, egress } = provider
  const { stop } = flight
  const whole: OutboundRequest = { url, method, headers, ownHeaders, body: sent, stop, sendOnce, reach, egress }
  return sign ? sign(whole) : whole
}

const UNREADABLE = { message: 'the reply broke off or is too large', reached: true }

const failed = (failure: UpstreamFailure): FailedExchange => ({ kind: 'failed', failure })

const wholeSends: Sends<WholeResult> = {
  statusOf: (whole) => (whole.kind === 'whole' ? whole.status : undefined),
}

const openingSends: Sends<OutboundResult> = {
  statusOf: (opened) => (opened.kind === 'response' ? opened.response.status : undefined),
  discard: (opened) => opened.kind === 'response' && opened.response.cancel(),
}

/** The text of a reply, unchanged. */
export const asReply = (text: string): Reply => ({ kind: 'reply', text })

/** Requests a whole reply and returns what `read` makes of its text. A response other than 200 becomes a failure. */
export function attemptWhole<Read>(
  target: Target,
  request: UpstreamRequest,
  limits: AttemptLimits,
  read: (text: string) => Read | Promise<Read>,
): Promise<Read | FailedExchange> {
  const flight = new InFlightAttempt(limits.owner, limits.firstEventTimeoutMs)
  const sending = { target, request, flight, limits }
  return sendAs(
    target,
    (credential, sign) => outbound.sendForText(requestOf(sending, credential, sign), limits.replyBytesMax, flight),
    wholeSends,
  ).then((sent) => {
    flight.land()
    if (sent.kind === 'failed') return sent
    if (sent.kind === 'network') return failed(flight.failure(sent))
    const { status, headers, text } = sent
    if (status !== 200) return failed(refusalOf(target, { status, headers }, text ?? ''))
    limits.owner.heard?.(requestIdIn(headers, secretsOf(target.provider)))
    if (text !== undefined) return inOwnTurn(text, read)
    return failed(flight.failure(UNREADABLE))
  })
}

/** Requests a stream and returns the reader of its events. */
export async function attemptStream(
  target: Target,
  request: UpstreamRequest,
  limits: AttemptLimits,
): Promise<StreamAttempt> {
  const flight = new InFlightAttempt(limits.owner, limits.firstEventTimeoutMs)
  const sending = { target, request, flight, limits }
  const sent = await send(sending)
  if (sent.kind !== 'response') return unanswered(sending, sent)
  const { response } = sent
  const { status, headers } = response
  limits.owner.heard?.(requestIdIn(headers, secretsOf(target.provider)))
  const contentType = status === 200 ? headers.get('content-type') : undefined
  if (contentType?.includes('text/event-stream')) {
    return { kind: 'stream', events: new EventReader(response, flight, limits) }
  }
  if (contentType?.includes('application/vnd.amazon.eventstream')) {
    return {
      kind: 'stream',
      events: new EventReader(response, flight, limits, new AwsEventDecoder(limits.eventCharsMax)),
    }
  }
  const isWhole = status === 200 && limits.takesWhole === true
  const text = await readText(response, isWhole ? limits.replyBytesMax : ERROR_BYTES_MAX)
  flight.land()
  if (isWhole && text !== undefined && !target.failures.hidden(text)) return asReply(text)
  return failed(status === 200 ? unexpected(target, text, 'an event stream') : refusalOf(target, response, text ?? ''))
}

/** Requests bytes, whole or as a stream. An answer of a type that `typeOf` does not know is a failure. */
export async function attemptBytes(
  target: Target,
  request: UpstreamRequest,
  { isWhole, typeOf, ...limits }: AttemptLimits & BytesAnswer & { readonly isWhole: boolean },
): Promise<BytesAttempt> {
  const flight = new InFlightAttempt(limits.owner, limits.firstEventTimeoutMs)
  const sending = { target, request, flight, limits }
  const sent = await send(sending)
  if (sent.kind !== 'response') return unanswered(sending, sent)
  const { response } = sent
  const { status, headers } = response
  limits.owner.heard?.(requestIdIn(headers, secretsOf(target.provider)))
  const contentType = status === 200 ? typeOf(headers.get('content-type') ?? '') : undefined
  if (contentType === undefined) {
    const text = await readText(response, ERROR_BYTES_MAX)
    flight.land()
    return failed(status === 200 ? unexpected(target, text, 'the bytes') : refusalOf(target, response, text ?? ''))
  }
  if (!isWhole) {
    return { kind: 'stream', events: new EventReader(response, flight, limits, new BytesDecoder()), contentType }
  }
  const bytes = await readBytes(response, limits.replyBytesMax, flight)
  flight.land()
  if (bytes) return { kind: 'bytes', content: { bytes, contentType } }
  return failed(flight.failure(UNREADABLE))
}

/** Sends the request and resolves with the head of its answer. */
const send = (sending: PreparedSend): Promise<OutboundResult | FailedExchange> =>
  sendAs(sending.target, (credential, sign) => outbound.send(requestOf(sending, credential, sign)), openingSends)

/** The failure of an attempt that has no answer. */
function unanswered({ flight }: PreparedSend, sent: NetworkFailure | FailedExchange): FailedExchange {
  flight.land()
  return sent.kind === 'failed' ? sent : failed(flight.failure(sent))
}

type Head = { readonly status: number; readonly headers: HeaderFields }

/** The meaning of an error response, with the vendor's id of the request. */
function refusalOf({ failures, provider }: Target, { status, headers }: Head, text: string): UpstreamFailure {
  const requestId = requestIdIn(headers, secretsOf(provider)) ?? requestIdInText(text)
  return { ...failures.response(status, headers, text), ...(requestId === undefined ? {} : { requestId }) }
}

/** Some vendors answer a request for a stream or for bytes with 200 and a JSON error. */
function unexpected({ failures }: Target, text: string | undefined, expected: string): UpstreamFailure {
  const message = `the upstream answered 200 without ${expected}`
  return failures.hidden(text ?? '') ?? { kind: 'garbage', status: 200, message }
}
