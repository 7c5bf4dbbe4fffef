/** Trying offers in the order of the plan, until one commits: a whole reply, or a stream's first meaningful event. */
import type { Offer, Provider } from '../domain/catalog.ts'
import { firstEventTimeoutOf } from '../domain/patience.ts'
import { isRequestFault, type Failure, type UpstreamFailure } from '../domain/failure.ts'
import type {
  AnswerFacts,
  Destination,
  FirstParts,
  PassedReply,
  PassedStream,
  Passage,
  ReadReply,
  UpstreamRequest,
} from '../formats/format.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { Preset } from '../providers/preset.ts'
import { findPreset } from '../providers/presets.ts'
import {
  asReply,
  attemptStream,
  attemptWhole,
  type AttemptLimits,
  type Target,
  type WholeAttempt,
} from '../upstream/attempt.ts'
import type { Admission } from './admit.ts'
import { discreetly, note } from './attempt-note.ts'
import type { Call, CancelReason } from './call.ts'
import type { Relay } from './context.ts'
import { isBackground } from './conversation.ts'
import { EventReader } from '../upstream/event-reader.ts'
import { GivenEvents, PreparedEvents, type EventSource } from './events.ts'
import { FULL, type Seat } from './seats.ts'
import { BoundedEvents } from './stream-bounds.ts'

/** An upstream stream past its first meaningful event. */
export type OpenStream = {
  readonly stream: PassedStream
  /** What the client gets first: the events up to the first meaningful one. */
  readonly text: string
  /** Events that arrived in the same read, still to be looked at. */
  readonly arrived: readonly SseEvent[]
  readonly events: EventSource
}

export type Served = {
  readonly offer: Offer
  /** What the client asked for and this upstream could not do. */
  readonly dropped: readonly string[]
}
export type WholeServed = Served & { readonly kind: 'whole'; readonly reply: PassedReply }
export type StreamServed = Served & { readonly kind: 'stream'; readonly open: OpenStream }
export type AllFailed = {
  readonly kind: 'failed'
  readonly failure: UpstreamFailure
  /** The offer that failed last. */
  readonly last: Served | undefined
  /** How far it came, where the request is several of its own. */
  readonly progress: Progress | undefined
  /** Whether the call had been cancelled by then, and the upstream told to stop: what came later was not the cause. */
  readonly cancelled: CancelReason | undefined
  readonly stopped: boolean
}
/** Of a request in parts: how many were answered before one failed. */
export type Progress = { readonly answered: number; readonly firstParts: (count: number) => FirstParts }
export type Attempted = WholeServed | StreamServed | AllFailed

type Failed = Pick<AllFailed, 'kind' | 'failure'> & { readonly progress?: Progress | undefined }
type Tried = { readonly kind: 'whole'; reply: PassedReply } | { readonly kind: 'stream'; open: OpenStream } | Failed

/** Held-back text before the first meaningful event is bounded: a vendor cannot fill memory with preludes. */
const PRELUDE_CHARS_MAX = 64 * 1024

const NONE_TRIED: AllFailed = {
  kind: 'failed',
  failure: { kind: 'model_gone', message: 'no offer could be tried' },
  last: undefined,
  progress: undefined,
  cancelled: undefined,
  stopped: false,
}

/** An offer with the one who makes it. */
type Choice = { readonly offer: Offer; readonly provider: Provider; readonly preset: Preset }

/** An offer that was asked. */
type Asked = {
  readonly choice: Choice
  readonly seat: Seat
  readonly startedMs: number
  readonly dropped: readonly string[]
  /** Whether it was to answer in one piece, however its client gets that. */
  readonly isWhole: boolean
}

export function tryOffers(relay: Relay, call: Call, admission: Admission): Promise<Attempted> {
  relay.retries.earn()
  return Promise.resolve(new Tries(relay, call, admission).goOn())
}

/** One call's way from offer to offer. Each step ends with the next one, so that the common way is a single one. */
class Tries {
  private readonly relay: Relay
  private readonly call: Call
  private readonly admission: Admission
  private failed = NONE_TRIED
  /** Where there was no seat. */
  private readonly full: Choice[] = []
  private next = 0
  /** The place in the plan at which those that are full are waited for; undefined once they were. */
  private waitAt: number | undefined
  private left: number

  constructor(relay: Relay, call: Call, admission: Admission) {
    this.relay = relay
    this.call = call
    this.admission = admission
    this.left = relay.limits.attemptsMax
    const { offers } = admission
    // Those that rest come last in the plan: one that is only full is worth a moment before.
    const firstResting = offers.length < 2 ? -1 : offers.findIndex(({ id }) => relay.health.isResting(id))
    this.waitAt = firstResting === -1 ? offers.length : firstResting
  }

  /** What the offers come to that have not been asked yet. */
  goOn(): Attempted | Promise<Attempted> {
    const { relay, admission } = this
    for (;;) {
      if (this.next === this.waitAt) {
        this.waitAt = undefined
        if (this.full.length > 0 && this.left > 0) return this.wait()
      }
      const offer = admission.offers[this.next++]
      if (!offer) return this.end()
      const choice = choiceOf(relay, offer)
      const seat = choice && relay.seats.take(choice.provider)
      if (seat) return this.ask(choice, seat)
      if (choice) this.full.push(choice)
    }
  }

  /** Waits a moment for the first seat anywhere. */
  private async wait(): Promise<Attempted> {
    const { relay, call } = this
    // As they are by now: an operator may have changed how many they take.
    const choices = this.full.flatMap(({ offer }) => choiceOf(relay, offer) ?? [])
    const providers = choices.map(({ provider }) => provider)
    // One that failed bills nothing on: who leaves meanwhile ends the wait.
    call.outlivesClient = isAwaited(call)
    const [provider, seat] = (await relay.seats.wait(providers, call.caller.account.id, call)) ?? []
    const choice = choices.find((one) => one.provider === provider)
    return choice && seat ? this.ask(choice, seat) : this.goOn()
  }

  private end(): AllFailed {
    const [first] = this.full
    if (!first || this.failed.last) return this.failed
    note(this.call, first.offer, this.call.elapsedMs(), 'full')
    return { ...this.failed, failure: FULL }
  }

  private ask(choice: Choice, seat: Seat): Attempted | Promise<Attempted> {
    const { relay, call } = this
    const isOver = this.left === 0 || (this.full.length > 0 && isForNobody(call))
    if (isOver || (this.failed.last && !relay.retries.spend(performance.now()))) {
      seat.leave()
      return this.failed
    }
    this.left--
    return this.tryOffer(choice, seat)
  }

  private tryOffer(choice: Choice, seat: Seat): Attempted | Promise<Attempted> {
    const { relay, call, admission } = this
    const { offer, provider, preset } = choice
    call.seat = seat
    const startedMs = call.elapsedMs()
    const passage = call.request.passage(preset.dialects, relay.pictures.deskOf(call, provider, admission.model))
    const target = { provider, preset, failures: passage.failures }
    const trial = trialOf(relay, call, { target, passage, offer, admission })
    if ('kind' in trial) return this.failedAt(trial, { choice, seat, startedMs, dropped: NOTHING, isWhole: false })
    relay.health.tried(offer.id)
    const asked = { choice, seat, startedMs, dropped: trial.request.dropped, isWhole: trial.isWhole }
    return carriedOut(call, trial).then((tried) => this.cameOf(asked, tried))
  }

  private cameOf(asked: Asked, tried: Tried): Attempted | Promise<Attempted> {
    if (tried.kind === 'failed') return this.failedAt(tried, asked)
    const { relay, call } = this
    const { choice, seat, startedMs, dropped } = asked
    const { offer } = choice
    note(call, offer, startedMs, 'ok')
    // It has yet to show that it does not break, and keeps its seat until then.
    if (tried.kind === 'stream') return { kind: 'stream', open: tried.open, offer, dropped }
    seat.leave()
    relay.health.succeeded(offer.id)
    return { kind: 'whole', reply: tried.reply, offer, dropped }
  }

  private failedAt({ failure: said, progress }: Failed, asked: Asked): Attempted | Promise<Attempted> {
    const { relay, call } = this
    const { choice, seat, startedMs, dropped, isWhole } = asked
    const { offer, provider } = choice
    const failure = discreetly(said, provider.secret, call)
    note(call, offer, startedMs, failure)
    call.replyMemory?.forget()
    seat.leave()
    const last = { offer, dropped }
    this.failed = { kind: 'failed', failure, last, progress, cancelled: call.cancelled, stopped: call.upstreamStopped }
    if (isForNobody(call)) {
      relay.health.ended(offer.id)
      return this.failed
    }
    relay.health.failed(offer.id, failure)
    return isLast(failure, isWhole) ? this.failed : this.goOn()
  }
}

/** A whole reply that timed out may have been made and billed: asking another vendor would pay twice for one answer. */
const isLast = ({ kind }: UpstreamFailure, isWhole: boolean): boolean =>
  isRequestFault(kind) || kind === 'unread' || (kind === 'timeout' && isWhole)

function choiceOf({ catalog }: Relay, offer: Offer): Choice | undefined {
  const provider = catalog.provider(offer.providerId)
  const preset = provider && findPreset(provider.preset)
  return provider && preset && { offer, provider, preset }
}

/** An offer to be tried. */
type Candidate = {
  readonly target: Target
  readonly passage: Passage
  readonly offer: Offer
  readonly admission: Admission
}

/** The same with what it is sent. */
type Trial = Omit<Candidate, 'offer'> & {
  readonly destination: Destination
  readonly request: UpstreamRequest
  readonly limits: AttemptLimits
  readonly isWhole: boolean
}

const NOTHING: readonly string[] = []

/** One in the background has no client that could leave: it only ends early where it is told to. */
const isAwaited = ({ claim, request }: Call): boolean => claim !== undefined && !isBackground(request)

/** Who has said that he will ask again is served as if he waited. */
const isForNobody = (call: Call): boolean => call.cancelled !== undefined && (call.upstreamStopped || !isAwaited(call))

/** What an answer to this call says of itself. */
export const factsOf = ({ id }: Call, { model, hold }: Admission): AnswerFacts => ({
  requestId: id,
  createdAtMs: hold.createdAtMs,
  publicModel: model.id,
})

function trialOf(relay: Relay, call: Call, { target, passage, offer, admission }: Candidate): Trial | Failed {
  const { preset, provider } = target
  if (passage.obstacle) return refused(passage.obstacle)
  const billsOn = (provider.hangUp ?? preset.quirks.hangUp) === 'bills_on'
  call.outlivesClient = billsOn || isAwaited(call)
  const destination: Destination = {
    upstreamModel: offer.upstreamModel,
    outputTokensMax: admission.quoted.outputTokens / call.request.choices,
    quirks: preset.quirks,
  }
  const isWhole = !call.request.stream || passage.asEvents !== undefined
  const limits = limitsOf(relay, call, { admission, isWhole })
  return { target, passage, admission, destination, request: passage.request(destination), limits, isWhole }
}

function carriedOut(call: Call, trial: Trial): Promise<Tried> {
  if (call.request.stream) return tryStream(call, trial)
  const { target, passage, destination, request, limits } = trial
  if (passage.split || passage.join) return tryParts(trial)
  return attemptWhole(target, request, limits, (text) => {
    const read = passage.readReply(text, destination.quirks)
    return read instanceof Promise ? read.then(triedOf) : triedOf(read)
  })
}

const triedOf = (read: ReadReply): Tried => (read.kind === 'failed' ? read : { kind: 'whole', reply: read.reply })

/** An error is never longer; a long reply is read by another thread, not here. */
const ERROR_CHARS_MAX = 64 * 1024

/** A request that is several of this upstream's. */
async function tryParts({ target, passage, destination, request, limits }: Trial): Promise<Tried> {
  const texts: string[] = []
  const parts = passage.split?.(destination) ?? [request]
  for (const part of parts) {
    const attempt = await attemptWhole(target, part, limits, (text) => readPart(text, parts, target))
    if (attempt.kind === 'failed') return { ...attempt, progress: progressOf(passage, texts.length) }
    texts.push(attempt.text)
  }
  return triedOf(await (passage.join?.(texts) ?? passage.readReply(texts[0] ?? '', destination.quirks)))
}

/** An error is found before the next part is sent; in the answer to the only part, when that is read. */
function readPart(text: string, parts: readonly unknown[], { failures }: Target): WholeAttempt {
  const failure = parts.length > 1 && text.length <= ERROR_CHARS_MAX ? failures.hidden(text) : undefined
  return failure ? { kind: 'failed', failure } : asReply(text)
}

const progressOf = ({ firstParts }: Passage, answered: number): Progress | undefined =>
  firstParts && { answered, firstParts }

async function tryStream(
  call: Call,
  { target, passage, admission, destination, request, limits }: Trial,
): Promise<Tried> {
  const opened = await openEvents(target, { request, passage }, limits)
  if (opened.kind === 'failed') return opened
  const passed = passage.openStream(factsOf(call, admission), destination.quirks)
  // A whole reply has a bound of its own.
  const isLive = opened.events instanceof EventReader
  const bounded = isLive ? new BoundedEvents(opened.events, passed, { admission, limits }) : opened.events
  const events = passed.prepare ? new PreparedEvents(bounded, passed) : bounded
  const tried = await readPrelude(events, passed)
  if (tried.kind === 'failed') events.close()
  return tried
}

function limitsOf(
  { limits }: Relay,
  call: Call,
  { admission, isWhole }: { admission: Admission; isWhole: boolean },
): AttemptLimits {
  const { wholeReplyTimeoutMs, replyBytesMax, textReplyBytesMax, eventGapTimeoutMs, eventCharsMax } = limits
  const { model } = admission
  // An image is in one event, and takes as long streamed as in one piece.
  const isImage = model.kind === 'image'
  return {
    firstEventTimeoutMs: isWhole || isImage ? wholeReplyTimeoutMs : firstEventTimeoutOf(model),
    eventGapTimeoutMs: isImage ? wholeReplyTimeoutMs : eventGapTimeoutMs,
    replyBytesMax: model.kind === 'text' ? textReplyBytesMax : replyBytesMax,
    eventCharsMax: isImage ? replyBytesMax : eventCharsMax,
    sendOnce: isImage,
    owner: call,
  }
}

type Opening = { readonly request: UpstreamRequest; readonly passage: Passage }

/** The events of an upstream, or of its whole reply where it does not stream. */
async function openEvents(
  target: Target,
  { request, passage }: Opening,
  limits: AttemptLimits,
): Promise<{ readonly kind: 'stream'; readonly events: EventReader | GivenEvents } | Failed> {
  if (!passage.asEvents) return attemptStream(target, request, limits)
  const attempt = await attemptWhole(target, request, limits, asReply)
  if (attempt.kind === 'failed') return attempt
  return { kind: 'stream', events: new GivenEvents(passage.asEvents(attempt.text)) }
}

/** A request that cannot be put in this upstream's dialect is the client's own affair. */
const refused = ({ message, param, code }: Failure): Failed => ({
  kind: 'failed',
  failure: {
    kind: 'bad_request',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  },
})

/** Reads up to the first meaningful event. Until there, everything that goes wrong still leaves the next offer free. */
async function readPrelude(events: EventSource, stream: PassedStream): Promise<Tried> {
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
