/** One attempt at one offer: the request to it, and the result. */
import type { Offer } from '../domain/catalog.ts'
import type { Failure, UpstreamFailure } from '../domain/failure.ts'
import type {
  AnswerFacts,
  Destination,
  FirstParts,
  AdaptedReply,
  AdaptedStream,
  Adapter,
  BytesReply,
  ReadEvent,
  ReadReply,
  UpstreamEvent,
  UpstreamRequest,
} from '../formats/core/contract.ts'
import type { BytesAnswer } from '../formats/core/bytes-answer.ts'
import { bodyWithout } from '../formats/core/refused-field.ts'
import { accountOf } from '../formats/core/own-seals.ts'
import {
  asReply,
  attemptBytes,
  attemptStream,
  attemptWhole,
  type AttemptLimits,
  type Target,
  type WholeAttempt,
} from '../upstream/attempt.ts'
import { EventReader } from '../upstream/event-reader.ts'
import type { Stoppable } from '../upstream/in-flight-attempt.ts'
import { rulesFor } from '../vendors/fit.ts'
import type { Admission } from './admit.ts'
import { BytesStream } from './bytes-stream.ts'
import type { GatewayRequest } from './call.ts'
import { tryCollected } from './collected.ts'
import type { Relay } from './context.ts'
import { GivenEvents, PreparedEvents, type UpstreamEvents } from './events.ts'
import type { OutputCap } from '../modalities/modality.ts'
import { BoundedEvents } from './stream-bounds.ts'
import { KIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

/** An upstream's stream after its first meaningful event. */
export type OpenStream = {
  readonly stream: AdaptedStream
  /** The text before the first meaningful event. */
  readonly prelude: string
  /** The first meaningful event. None of it has left. */
  readonly first: Extract<ReadEvent, { kind: 'chunk' }>
  /** Further events of the same read, which are not processed yet. */
  readonly arrived: readonly UpstreamEvent[]
  readonly events: UpstreamEvents
  /** The content type, if the stream is bytes. */
  readonly contentType?: string
}

/** For a request that is sent in parts: how many parts were answered before one failed. */
export type Progress = { readonly answered: number; readonly firstParts: (count: number) => FirstParts }
export type FailedAttempt = {
  readonly kind: 'failed'
  readonly failure: UpstreamFailure
  readonly progress?: Progress | undefined
}
export type AttemptResult =
  | { readonly kind: 'whole'; reply: AdaptedReply | BytesReply; isCut?: boolean }
  | { readonly kind: 'stream'; open: OpenStream }
  | FailedAttempt

/** The bound of the text that is held back before the first meaningful event, because it is kept in memory. */
const PRELUDE_CHARS_MAX = limit(
  'preludeCharsMax',
  64 * KIB,
  'A stream with more before its first meaningful event counts as failed, and the next offer is tried.',
)

/** Whether nobody waits for the answer. A client that announced a repetition counts as waiting. */
export const isAbandoned = ({ cancelled, upstreamStopped, life, isDropped }: GatewayRequest): boolean =>
  isDropped || (cancelled !== undefined && (upstreamStopped || !life.isAwaited))

/** The facts that an answer to this call states about itself. */
export const factsOf = ({ id }: GatewayRequest, { model, hold }: Admission): AnswerFacts => ({
  requestId: id,
  createdAtMs: hold.createdAtMs,
  publicModel: model.id,
})

/** An offer before its attempt. */
type Candidate = {
  readonly target: Target
  readonly adapter: Adapter
  readonly offer: Offer
  readonly admission: Admission
  /** Fields that the vendor refused during this call. */
  readonly without: readonly string[]
  /** What can stop the attempt. */
  readonly owner: Stoppable
}

/** An offer with the request to it. */
export type PreparedAttempt = Omit<Candidate, 'offer' | 'without' | 'owner'> & {
  readonly destination: Destination
  readonly request: UpstreamRequest
  readonly limits: AttemptLimits
  readonly isWhole: boolean
  /** Whether the vendor continues to bill when the client leaves. */
  readonly billsOn: boolean
}

export function prepareAttempt(
  relay: Relay,
  call: GatewayRequest,
  { target, adapter, offer, admission, without, owner }: Candidate,
): PreparedAttempt | FailedAttempt {
  const { preset, provider } = target
  if (adapter.obstacle) return refused(adapter.obstacle)
  const billsOn = (provider.hangUp ?? preset.hangUp) === 'bills_on'
  const destination: Destination = {
    upstreamModel: offer.upstreamModel,
    outputTokensMax: capOf(admission)?.tokens ?? call.request.outputTokensMax,
    modelOutputTokensMax: admission.model.limits.outputTokensMax,
    collected: isCollected(call, admission, adapter),
    quirks: { ...preset.quirks, account: accountOf(provider), rules: rulesFor(preset.id, offer.upstreamModel) },
  }
  const request = lessOf(adapter.request(destination), without)
  const isWhole = !call.request.stream || adapter.asEvents !== undefined || request.isWhole === true
  const limits = limitsOf(relay, call, { admission, isWhole, offer, owner })
  if (request.dropped.length > 0 && call.hints?.provider.requiresParameters) return refused(PARAMETERS)
  return { target, adapter, admission, destination, request, limits, isWhole, billsOn }
}

const lessOf = (request: UpstreamRequest, fields: readonly string[]): UpstreamRequest =>
  fields.length === 0
    ? request
    : { ...request, body: bodyWithout(request.body, fields), dropped: [...request.dropped, ...fields] }

/** Whether a whole reply is requested as a stream, so that its hold can grow with it. */
const isCollected = ({ request }: GatewayRequest, { growing }: Admission, adapter: Adapter): boolean =>
  growing !== undefined && growing.wholeCap === undefined && !request.stream && 'collector' in adapter

/** The output limit that the gateway sets. */
export const capOf = ({ growing, quoted }: Admission): OutputCap | undefined => growing?.wholeCap ?? quoted.cap

export function carriedOut(call: GatewayRequest, prepared: PreparedAttempt): Promise<AttemptResult> {
  const { bytes } = prepared.adapter
  if (bytes) return tryBytes(prepared, bytes)
  if (call.request.stream) return tryStream(call, prepared)
  if (prepared.destination.collected) return tryCollected(call, prepared, factsOf(call, prepared.admission))
  const { target, adapter, destination, request, limits } = prepared
  if (adapter.split || adapter.join) return tryParts(prepared)
  return attemptWhole(target, request, limits, (text) => {
    const read = adapter.readReply(text, destination.quirks)
    return read instanceof Promise ? read.then(triedOf) : triedOf(read)
  })
}

const triedOf = (read: ReadReply): AttemptResult =>
  read.kind === 'failed' ? read : { kind: 'whole', reply: read.reply }

/** An error is never longer. A long reply is parsed by another thread, and not here. */
const ERROR_CHARS_MAX = 64 * KIB

/** Tries a request that must be sent to this upstream in several parts. */
async function tryParts({ target, adapter, destination, request, limits }: PreparedAttempt): Promise<AttemptResult> {
  const texts: string[] = []
  const parts = adapter.split?.(destination) ?? [request]
  for (const part of parts) {
    const attempt = await attemptWhole(target, part, limits, (text) => readPart(text, parts, target))
    if (attempt.kind === 'failed') return { ...attempt, progress: progressOf(adapter, texts.length) }
    texts.push(attempt.text)
  }
  return triedOf(await (adapter.join?.(texts) ?? adapter.readReply(texts[0] ?? '', destination.quirks)))
}

/** Checks the reply to a part for an error before the next part is sent. A single part is checked when it is read. */
function readPart(text: string, parts: readonly unknown[], { failures }: Target): WholeAttempt {
  const failure = parts.length > 1 && text.length <= ERROR_CHARS_MAX ? failures.hidden(text) : undefined
  return failure ? { kind: 'failed', failure } : asReply(text)
}

const progressOf = ({ firstParts }: Adapter, answered: number): Progress | undefined =>
  firstParts && { answered, firstParts }

async function tryStream(
  call: GatewayRequest,
  { target, adapter, admission, destination, request, limits }: PreparedAttempt,
): Promise<AttemptResult> {
  const opened = await openEvents(target, { request, adapter }, limits)
  if (opened.kind === 'failed') return opened
  const passed = adapter.openStream(factsOf(call, admission), destination.quirks)
  // A whole reply has its own bound.
  const isLive = opened.events instanceof EventReader
  const bounded = isLive ? new BoundedEvents(opened.events, passed, { admission, limits }) : opened.events
  const events = passed.prepare ? new PreparedEvents(bounded, passed) : bounded
  const tried = await readPrelude(events, passed)
  if (tried.kind === 'failed') events.close()
  return tried
}

/** Nothing of a stream of bytes is read. Its first bytes are its first meaningful event. */
const NO_EVENT = { kind: 'chunk', text: '', meaningful: true } as const

async function tryBytes(
  { target, admission, request, limits, isWhole }: PreparedAttempt,
  { typeOf }: BytesAnswer,
): Promise<AttemptResult> {
  const got = await attemptBytes(target, request, { ...limits, typeOf, isWhole })
  if (got.kind === 'failed') return got
  if (got.kind === 'bytes') {
    if (got.content.bytes.length === 0) return empty('the reply is empty')
    return { kind: 'whole', reply: { usage: undefined, produced: '', content: got.content } }
  }
  const stream = new BytesStream()
  // A whole answer of bytes has the same bound.
  const events = new BoundedEvents(got.events, stream, { admission, limits, bytesMax: limits.replyBytesMax })
  const next = await events.next()
  if (next.kind === 'events' && next.events[0]?.bytes) {
    const { contentType } = got
    return { kind: 'stream', open: { stream, prelude: '', first: NO_EVENT, arrived: next.events, events, contentType } }
  }
  events.close()
  if (next.kind === 'broken') return { kind: 'failed', failure: next.failure }
  return empty('the stream closed without an answer')
}

type BoundedAttempt = Pick<Candidate, 'admission' | 'offer' | 'owner'> & { readonly isWhole: boolean }

function limitsOf(
  { limits }: Relay,
  call: GatewayRequest,
  { admission, isWhole, offer, owner }: BoundedAttempt,
): AttemptLimits {
  const { model, modality } = admission
  const trace = call.trace?.attempt(offer.id)
  return { ...modality.attemptBounds(model, limits, isWhole), sendOnce: modality.sendOnce, trace, owner }
}

type StreamOpening = { readonly request: UpstreamRequest; readonly adapter: Adapter }

/** The events of an upstream's stream, or those made from its whole reply if it does not stream. */
async function openEvents(
  target: Target,
  { request, adapter }: StreamOpening,
  limits: AttemptLimits,
): Promise<{ readonly kind: 'stream'; readonly events: EventReader | GivenEvents } | FailedAttempt> {
  const { eventsOfReply } = adapter
  if (!adapter.asEvents) {
    const streamed = await attemptStream(target, request, { ...limits, takesWhole: eventsOfReply !== undefined })
    if (streamed.kind !== 'reply') return streamed
    if (!eventsOfReply) throw new Error('a stream was requested')
    return { kind: 'stream', events: new GivenEvents(eventsOfReply(streamed.text)) }
  }
  const attempt = await attemptWhole(target, request, limits, asReply)
  if (attempt.kind === 'failed') return attempt
  return { kind: 'stream', events: new GivenEvents(adapter.asEvents(attempt.text)) }
}

/** A request that cannot be expressed in this upstream's dialect is the client's fault. */
const refused = ({ message, param, code }: Failure): FailedAttempt => ({
  kind: 'failed',
  failure: {
    kind: 'bad_request',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  },
})

const PARAMETERS: Failure = {
  kind: 'unsupported_parameter',
  message:
    "No provider of this model supports every parameter of the request, as 'provider.require_parameters' demands.",
  param: 'provider.require_parameters',
}

/** Reads up to the first meaningful event. Until then the next offer can be tried after any failure. */
async function readPrelude(events: UpstreamEvents, stream: AdaptedStream): Promise<AttemptResult> {
  let text = ''
  for (;;) {
    const next = await events.next()
    if (next.kind === 'broken') return { kind: 'failed', failure: next.failure }
    if (next.kind === 'end') return empty('the stream closed without an answer')
    for (const [i, event] of next.events.entries()) {
      const read = stream.read(event)
      if (read.kind === 'failed') return read
      if (read.kind === 'done') return empty('the stream ended without an answer')
      if (read.meaningful) {
        const arrived = next.events.slice(i + 1)
        return { kind: 'stream', open: { stream, prelude: text, first: read, arrived, events } }
      }
      text += read.text
      if (text.length > PRELUDE_CHARS_MAX) return empty('the stream began with too much that is not an answer')
    }
  }
}

const empty = (message: string): FailedAttempt => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message },
})
