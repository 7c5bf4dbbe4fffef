/**
 * Streamed answers: the events on their way to the client, and the settlement that must come before the last one.
 * Over 300 lines: one stream has these states, and its reader needs them together.
 */
import type { Offer } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { Usage } from '../domain/usage.ts'
import type { AdaptedStream, UpstreamEvent } from '../formats/core/contract.ts'
import { asGeneratedText } from '../formats/core/generated-text.ts'
import { joinContent, type MessageContent } from '../lib/http/message-content.ts'
import { Transcript } from '../records/idempotency.ts'
import type { RequestRecord } from '../records/records.ts'
import type { Admission } from './admit.ts'
import { keepAnswer } from './answer-cache.ts'
import type { OffersOutcome, StreamServed } from './offers-outcome.ts'
import { factsOf } from './prepared-attempt.ts'
import { redactedFailure, noteBroken } from './attempt-note.ts'
import { streamEnded } from './attempt-signals.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { shownEnd } from './conversation.ts'
import { fail, failureOfCancel, INTERNAL, NOT_REPEATABLE, outcomeOf, rescue, settle } from './finish.ts'
import { EVENTS_TYPE, JSON_TYPE } from '../lib/http/content-types.ts'
import { earlyHeaders } from './headers.ts'
import { capOfSpent, type GrowingHold } from './growing-hold.ts'
import { meter } from './meter.ts'
import { ended, endOf, inBand, isRunaway, passedBytes, RUNAWAY, type StreamStep } from './stream-end.ts'

export type StreamedAnswer = {
  readonly kind: 'stream'
  /** They do not include the type of the content. */
  readonly headers: Record<string, string>
  /** Undefined for events. Bytes have no comments, so nothing fills their silence. */
  readonly contentType: string | undefined
  readonly events: StreamAnswer
  /** Whether an upstream has committed, or the stream still waits for one. */
  readonly begun: 'waiting' | 'answering'
}

const NOTHING = { kind: 'chunk', text: '', meaningful: false } as const
type StreamStart = Pick<StreamServed['open'], 'prelude' | 'first' | 'arrived'>

type StreamJob = {
  readonly admission: Admission
  readonly ready: Promise<OffersOutcome>
  readonly begun: 'waiting' | 'answering'
  readonly dropped: readonly string[]
  /** The offer that has committed, if one has. */
  readonly offer?: Offer | undefined
  /** Set if the answer is bytes. */
  readonly contentType?: string | undefined
}

export function answerStream(relay: Relay, call: GatewayRequest, job: StreamJob): StreamedAnswer {
  const { admission, begun, contentType } = job
  const headers = earlyHeaders(call, admission, job)
  return { kind: 'stream', headers, contentType, events: new StreamAnswer(relay, call, job), begun }
}

type StreamEnd = {
  readonly outcome: RequestRecord['outcome']
  readonly failure?: Failure | undefined
  /** Whether the answer ended because no money was left. */
  readonly isCut?: boolean
  /** Whether a repetition may get this answer. It may not if its first client or the gateway ended the answer. */
  readonly repeatable: boolean
  /** The content that ends the stream, for the final usage. */
  readonly end: (usage: Usage) => MessageContent
}

/**
 * One stream on its way to the client, and its one settlement. `next` returns one or several complete events, or bytes,
 * and undefined after the last. A caller that stops early must call `close`, which settles the rest.
 */
export class StreamAnswer {
  private readonly relay: Relay
  private readonly call: GatewayRequest
  private readonly admission: Admission
  private readonly ready: Promise<OffersOutcome>
  private served: StreamServed | undefined
  private ended = false
  private broken = false
  private busy: Promise<unknown> | undefined
  private closing: Promise<void> | undefined
  /** What the client got or would have got, if a later request may get it again. */
  private readonly transcript: Transcript | undefined
  private readonly contentType: string | undefined

  constructor(relay: Relay, call: GatewayRequest, { admission, ready, contentType }: StreamJob) {
    this.relay = relay
    this.call = call
    this.admission = admission
    this.ready = ready
    this.contentType = contentType
    call.life.headLeft()
    if (call.life.lock) this.transcript = new Transcript()
    else if (call.cacheUse?.kind === 'miss')
      this.transcript = new Transcript(relay.collected.of(call.caller.account.id))
  }

  /** Whether nothing follows what `next` returned. */
  get isEnded(): boolean {
    return this.ended
  }

  /** Whether it ended early, and nothing in its content says so. The client must see a broken message. */
  get isBroken(): boolean {
    return this.broken
  }

  next(): Promise<MessageContent | undefined> {
    const advancing = this.advance()
    this.busy = advancing
    return advancing
  }

  /** The client is behind. The content of `next` is forgotten, because it would be in memory twice. */
  rest(): void {
    this.busy = undefined
    this.served?.open.events.rest()
  }

  /** The client takes no more. It pays the reported usage, or the input plus what arrived. A second call is safe. */
  close(): Promise<void> {
    // This is deferred, because the cancellation of the call comes back here and must find that closing has begun.
    return (this.closing ??= Promise.resolve().then(() => this.leave()))
  }

  private async leave(): Promise<void> {
    this.call.cancel('client_closed')
    // The current step ends first, by itself: the upstream was told to stop, or is being read on.
    await Promise.allSettled([this.busy, this.ready])
    if (!this.ended && !this.served) await this.guarded(() => this.begin())
    const { served, call, relay } = this
    if (this.ended || !served) return
    this.ended = true
    await this.guarded(async () => {
      let last: StreamStep | undefined
      if (call.life.outlivesClient)
        await relay.remainders.run(
          async () => {
            last = await this.readOn(served)
          },
          () => call.stopUpstream(),
        )
      const { cancelled = 'client_closed' } = call
      const failure = cancelled === 'client_closed' ? undefined : failureOfCancel(cancelled)
      const complete = last && last.end !== 'broken' ? last : undefined
      const isCut = last?.end === 'spent'
      if (isCut) call.life.cutAt(capOfSpent(this.admission))
      await this.settle(served, {
        outcome: outcomeOf(cancelled),
        failure,
        isCut,
        repeatable: complete !== undefined,
        end: (usage) =>
          complete
            ? endOf(served, complete, usage)
            : served.open.stream.fail(failure ?? failureOfCancel(cancelled), usage),
      })
      served.open.events.close()
      relay.health.ended(served.offer.id)
    })
  }

  /** After a programmer's error, what arrived is still charged, or the hold is released. */
  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.ended = true
      this.broken = this.isBytes
      const { served, relay, call, admission } = this
      served?.open.events.close()
      if (served && relay.ledger.isOpen(admission.hold)) {
        await this.settle(served, {
          outcome: 'cut',
          failure: INTERNAL,
          repeatable: false,
          end: (usage) => served.open.stream.fail(INTERNAL, usage),
        })
      }
      this.transcript?.release()
      await rescue(relay, call, admission)
      throw error
    }
  }

  private get isBytes(): boolean {
    return this.contentType !== undefined
  }

  private advance(): Promise<MessageContent | undefined> {
    if (this.ended || this.closing) return Promise.resolve(undefined)
    return this.guarded(async () => {
      if (!this.served) return this.begin()
      for (;;) {
        const step = await this.step(this.served)
        if (step.end !== 'open') return this.finish(this.served, step)
        if (step.content.length > 0) return this.noted(step.content)
      }
    })
  }

  /** Waits until an upstream commits. What was held back until then comes first. */
  private async begin(): Promise<MessageContent | undefined> {
    const { relay, call, admission } = this
    const served = await this.ready
    if (served.kind !== 'stream') {
      this.ended = true
      if (served.kind === 'whole') throw new Error('a stream was requested')
      let text = ''
      const tell = (failure: Failure): void => {
        text = call.request.failStream(failure, factsOf(call, admission))
      }
      await fail(relay, call, { admission, attempted: served, tell })
      return text
    }
    this.served = served
    call.life.answering(call.elapsedMs())
    const { arrived, prelude, first } = served.open
    // These can be half a megabyte, and would stay in memory as long as the stream lasts.
    Object.assign(served.open, { arrived: [], prelude: '', first: NOTHING })
    const step = await this.passFirst(served, { prelude, first, arrived })
    return step.end === 'open' ? this.noted(step.content) : this.finish(served, step)
  }

  private noted(content: MessageContent): MessageContent {
    this.transcript?.add(content)
    return content
  }

  private async step(served: StreamServed): Promise<StreamStep> {
    const { events, stream } = served.open
    const next = await events.next()
    if (next.kind === 'events') return this.pass(served, next.events, '')
    if (next.kind === 'broken' && next.failure.isExcess) return { end: 'broken', content: '', failure: next.failure }
    // Once every choice is finished the answer is complete, whether a terminator, the end or an accident follows.
    if (stream.finished) return { end: 'done', content: '' }
    if (next.kind === 'broken') return { end: 'broken', content: '', failure: next.failure }
    return { end: 'broken', content: '', failure: { kind: 'network', message: 'the upstream closed in the middle' } }
  }

  private async passFirst(served: StreamServed, { prelude, first, arrived }: StreamStart): Promise<StreamStep> {
    const { growing } = this.admission
    if (growing && (await growing.cover(served.open.stream)) === 'spent') return { end: 'spent', content: prelude }
    return this.pass(served, arrived, prelude + first.text)
  }

  /** Reads events and joins the text for the client. */
  private pass(
    served: StreamServed,
    events: readonly UpstreamEvent[],
    before: string,
  ): StreamStep | Promise<StreamStep> {
    const { stream } = served.open
    if (this.isBytes) return passedBytes(events)
    const { growing } = this.admission
    if (growing) return this.passPaid(served, growing, { events, before })
    let text = before
    for (const event of events) {
      const read = stream.read(event)
      if (read.kind !== 'chunk') return ended(read, stream, text)
      text += read.text
    }
    return this.passed(stream, text)
  }

  /** The same for a growing hold. Each event leaves once it is paid for. */
  private async passPaid(
    { open: { stream } }: StreamServed,
    growing: GrowingHold,
    { events, before }: { readonly events: readonly UpstreamEvent[]; readonly before: string },
  ): Promise<StreamStep> {
    let text = before
    for (const event of events) {
      const read = stream.read(event)
      if (read.kind !== 'chunk') return ended(read, stream, text)
      const covering = growing.cover(stream)
      if (covering !== 'covered' && (await covering) === 'spent') return { end: 'spent', content: text }
      text += read.text
    }
    return this.passed(stream, text)
  }

  private passed(stream: AdaptedStream, text: string): StreamStep {
    const { call } = this
    if (isRunaway(stream, this.admission)) return { end: 'broken', content: text, failure: RUNAWAY }
    // Only the bill is missing, so a client that leaves at the finish still pays what the vendor is about to report.
    // The same holds for an image of which the client has seen a part, because the vendor bills it to its end.
    if (stream.finished || stream.begun) call.life.made()
    return { end: 'open', content: text }
  }

  /** The last content. The settlement comes before the terminator, or before the format's error. */
  private async finish(served: StreamServed, step: Exclude<StreamStep, { end: 'open' }>): Promise<MessageContent> {
    this.ended = true
    served.open.events.close()
    const { cancelled } = this.call
    if (step.end !== 'broken') {
      const isCut = step.end === 'spent'
      if (isCut) this.call.life.cutAt(capOfSpent(this.admission))
      const end = (usage: Usage): MessageContent => endOf(served, step, usage)
      const content = await this.settle(served, { outcome: 'completed', isCut, repeatable: true, end })
      this.relay.health.succeeded(served.offer.id)
      streamEnded(this.relay, this.call, served.offer, served.open.stream.usage)
      return content
    }
    this.broken = this.isBytes
    const failure = cancelled ? failureOfCancel(cancelled) : inBand(step.failure, served.open.stream)
    const { produced, thoughts = '' } = served.open.stream
    const output = [produced, thoughts].map((text) => asGeneratedText(text).text)
    const redacted = redactedFailure(this.relay, this.call, step.failure, { offer: served.offer, output })
    if (!cancelled) noteBroken(this.call, redacted)
    const content = await this.settle(served, {
      outcome: cancelled ? outcomeOf(cancelled) : 'cut',
      failure: cancelled === 'client_closed' ? undefined : failure,
      // A repetition would take a part of the bytes for all of them.
      repeatable: cancelled === undefined && !this.isBytes,
      end: (usage) => joinContent(step.content, served.open.stream.fail(failure, usage)),
    })
    if (!cancelled) this.relay.health.failed(served.offer.id, redacted)
    return content
  }

  /** Reads on without a client to learn the usage. */
  private async readOn(served: StreamServed): Promise<StreamStep> {
    for (;;) {
      const step = await this.step(served)
      if (step.end !== 'open') return step
      this.noted(step.content)
    }
  }

  /** Settles, and returns the content that ends the stream. */
  private async settle(
    served: StreamServed,
    { outcome, failure, repeatable, isCut, end }: StreamEnd,
  ): Promise<MessageContent> {
    const { relay, call, admission, transcript, contentType } = this
    const { stream } = served.open
    // Text that arrived but was not paid for did not leave.
    const { produced, thoughts } = admission.growing?.words ?? stream
    const { usage, finished, delivered, begun, painted } = stream
    const metered = await meter(relay, call, {
      usage,
      produced,
      thoughts,
      delivered,
      // An image that the upstream broke off does not count. One that the client left is made and billed nevertheless.
      begun: outcome === 'cut' ? 0 : begun,
      painted: painted && outcome === 'client_closed' ? { ...painted, endedBy: 'client' } : painted,
      admission,
      complete: !isCut && (finished || outcome === 'completed'),
      isCut,
    })
    const last = end(metered.usage)
    transcript?.add(last)
    const record = await settle(relay, call, {
      admission,
      served,
      metered,
      outcome,
      failure,
      answer: () => {
        if (!repeatable) return NOT_REPEATABLE
        const headers = earlyHeaders(call, admission, served)
        const shown = shownEnd(call)
        if (shown !== undefined) return { status: 200, headers: { ...JSON_TYPE, ...headers }, body: shown }
        const type = contentType === undefined ? EVENTS_TYPE : { 'content-type': contentType }
        return { status: 200, headers: { ...type, ...headers }, body: transcript?.content }
      },
    })
    if (transcript && call.cacheUse) {
      const { content } = transcript
      keepAnswer(relay, call, { admission, served, record, content, form: 'stream', isCut: isCut ?? false })
    }
    transcript?.release()
    return last
  }
}
