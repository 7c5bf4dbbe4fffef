/** Trying offers in the order of the plan, until one commits: a whole reply, or a stream's first meaningful event. */
import type { Offer } from '../domain/catalog.ts'
import { isRequestFault, type UpstreamFailure } from '../domain/failure.ts'
import { readChatReply, type ChatReply } from '../formats/chat/reply.ts'
import { writeUpstreamRequest } from '../formats/chat/request.ts'
import { ChatStream } from '../formats/chat/stream.ts'
import type { SseEvent } from '../lib/sse.ts'
import { findPreset } from '../providers/presets.ts'
import type { Preset } from '../providers/preset.ts'
import { attemptStream, attemptWhole, type AttemptLimits, type Target } from '../upstream/attempt.ts'
import type { EventReader } from '../upstream/event-reader.ts'
import type { Admission } from './admit.ts'
import type { Call } from './call.ts'
import type { Relay } from './context.ts'

/** An upstream stream past its first meaningful event. */
export type OpenStream = {
  readonly stream: ChatStream
  /** What the client gets first: the events up to the first meaningful one. */
  readonly text: string
  /** Events that arrived in the same read, still to be looked at. */
  readonly arrived: readonly SseEvent[]
  readonly events: EventReader
}

export type Served = { readonly offer: Offer; readonly preset: Preset }
export type WholeServed = Served & { readonly kind: 'whole'; readonly reply: ChatReply }
export type StreamServed = Served & { readonly kind: 'stream'; readonly open: OpenStream }
export type AllFailed = {
  readonly kind: 'failed'
  readonly failure: UpstreamFailure
  /** The offer that failed last. */
  readonly last: Served | undefined
}
export type Attempted = WholeServed | StreamServed | AllFailed

type Failed = Pick<AllFailed, 'kind' | 'failure'>
type Tried = { readonly kind: 'whole'; reply: ChatReply } | { readonly kind: 'stream'; open: OpenStream } | Failed

/** Held-back text before the first meaningful event is bounded: a vendor cannot fill memory with preludes. */
const PRELUDE_CHARS_MAX = 64 * 1024

export async function tryOffers(relay: Relay, call: Call, admission: Admission): Promise<Attempted> {
  let failure: UpstreamFailure = { kind: 'model_gone', message: 'no offer could be tried' }
  let last: Served | undefined
  relay.retries.earn()
  for (const offer of admission.offers) {
    const provider = relay.catalog.provider(offer.providerId)
    const preset = provider && findPreset(provider.preset)
    if (!provider || !preset) continue
    if (last && !relay.retries.spend(performance.now())) break
    const startedMs = call.elapsedMs()
    const target = { provider, preset, path: preset.chatPath }
    let tried = await tryOffer(relay, call, { target, offer, admission })
    if (tried.kind === 'failed') tried = { kind: 'failed', failure: discreet(tried.failure, provider.secret, call) }
    note(call, offer, startedMs, tried)
    if (tried.kind !== 'failed') {
      // A stream has yet to show that it does not break.
      if (tried.kind === 'whole') relay.health.succeeded(offer.id)
      return { ...tried, offer, preset }
    }
    failure = tried.failure
    last = { offer, preset }
    if (call.cancelled) break
    relay.health.failed(offer.id, failure)
    // A timed-out whole reply may have been made and billed; asking another vendor would pay twice for one answer.
    if (isRequestFault(failure.kind) || (failure.kind === 'timeout' && !call.request.stream)) break
  }
  return { kind: 'failed', failure, last }
}

/** A shorter word in common with a credential says nothing. */
const PART_OF_SECRET_CHARS = 8

/**
 * A failure without a code or field name that repeats the credential, and without a code that is a word of the request:
 * both look like what a vendor would send, and the code is kept in the record and in the log.
 */
function discreet(
  { code, param, ...failure }: UpstreamFailure,
  secret: string | undefined,
  call: Call,
): UpstreamFailure {
  const tellsSecret = (word: string): boolean =>
    secret !== undefined && (word.includes(secret) || (word.length >= PART_OF_SECRET_CHARS && secret.includes(word)))
  return {
    ...failure,
    ...(code === undefined || tellsSecret(code) || call.request.text.includes(code) ? {} : { code }),
    ...(param === undefined || tellsSecret(param) ? {} : { param }),
  }
}

type Try = { readonly target: Target; readonly offer: Offer; readonly admission: Admission }

async function tryOffer(relay: Relay, call: Call, { target, offer, admission }: Try): Promise<Tried> {
  const { quirks } = target.preset
  const { limits } = relay
  call.outlivesClient = call.claim !== undefined || (target.provider.hangUp ?? quirks.hangUp) === 'bills_on'
  const body = writeUpstreamRequest(call.request, {
    upstreamModel: offer.upstreamModel,
    outputTokensMax: admission.quoted.cap,
    outputMaxField: quirks.outputMaxField,
    askForUsage: quirks.usageInStream === 'on_request',
  })
  const { stream } = call.request
  const attemptLimits: AttemptLimits = {
    firstEventTimeoutMs: stream ? admission.model.limits.firstEventTimeoutMs : limits.wholeReplyTimeoutMs,
    eventGapTimeoutMs: limits.eventGapTimeoutMs,
    replyBytesMax: limits.replyBytesMax,
    eventCharsMax: limits.eventCharsMax,
    owner: call,
  }
  if (stream) return openStream(call, target, body, { attemptLimits, publicModel: admission.model.id })
  const attempt = await attemptWhole(target, body, attemptLimits)
  if (attempt.kind === 'failed') return attempt
  const read = readChatReply(attempt.text, quirks.usageDialect)
  return read.kind === 'failed' ? read : { kind: 'whole', reply: read.reply }
}

type StreamTry = { readonly attemptLimits: AttemptLimits; readonly publicModel: string }

async function openStream(
  call: Call,
  target: Target,
  body: string,
  { attemptLimits, publicModel }: StreamTry,
): Promise<Tried> {
  const attempt = await attemptStream(target, body, attemptLimits)
  if (attempt.kind === 'failed') return attempt
  const stream = new ChatStream({
    publicModel,
    usageAsked: call.request.usageAsked,
    usageDialect: target.preset.quirks.usageDialect,
  })
  const tried = await readPrelude(attempt.events, stream)
  if (tried.kind === 'failed') attempt.events.close()
  return tried
}

/** Reads up to the first meaningful event. Until there, everything that goes wrong still leaves the next offer free. */
async function readPrelude(events: EventReader, stream: ChatStream): Promise<Tried> {
  let text = ''
  for (;;) {
    const next = await events.next()
    if (next.kind === 'broken') return { kind: 'failed', failure: next.failure }
    if (next.kind === 'end') return empty('the stream closed without an answer')
    for (const [i, event] of next.events.entries()) {
      const read = stream.read(event)
      if (read.kind === 'failed') return read
      if (read.kind === 'done') return empty('the stream ended without an answer')
      text += read.text
      if (read.meaningful) return { kind: 'stream', open: { stream, text, arrived: next.events.slice(i + 1), events } }
      if (text.length > PRELUDE_CHARS_MAX) return empty('the stream began with too much that is not an answer')
    }
  }
}

const empty = (message: string): Failed => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } })

function note(call: Call, offer: Offer, startedMs: number, tried: Tried): void {
  const { id: offerId, providerId, upstreamModel } = offer
  const tookMs = Math.round(call.elapsedMs() - startedMs)
  const failure = tried.kind === 'failed' ? tried.failure : undefined
  call.attempts.push({
    offerId,
    providerId,
    upstreamModel,
    result: failure?.kind ?? 'ok',
    ...(failure?.status === undefined ? {} : { status: failure.status }),
    // An upstream's own words may quote the prompt or the credential: the record keeps only its code, and our words.
    ...(failure?.code === undefined ? {} : { code: failure.code }),
    ...(failure && failure.status === undefined && failure.code === undefined
      ? { message: failure.message.slice(0, 200) }
      : {}),
    startedMs: Math.round(startedMs),
    tookMs,
  })
}
