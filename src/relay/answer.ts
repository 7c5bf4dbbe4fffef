/** Answers: what the client gets once an upstream has committed, and the settlement that must come before its end. */
import type { Failure } from '../domain/failure.ts'
import { formatUsd } from '../domain/money.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { failureForClient, writeFailure } from '../formats/chat/failure.ts'
import { dataEvent, type SseEvent } from '../lib/sse.ts'
import type { RequestRecord } from '../records/records.ts'
import { StreamBroken } from '../upstream/attempt.ts'
import type { Admission } from './admit.ts'
import type { Attempted, StreamServed, WholeServed } from './attempt.ts'
import type { Call } from './call.ts'
import type { Relay } from './context.ts'
import { fail, failureOfCancel, meter, rescue, settle } from './finish.ts'

export type Answer =
  | { readonly kind: 'whole'; readonly headers: Readonly<Record<string, string>>; readonly text: string }
  | {
      readonly kind: 'stream'
      readonly headers: Readonly<Record<string, string>>
      /** Complete events, one or several an element. Whoever stops early must call `return()`: it settles. */
      readonly events: AsyncGenerator<string, void>
    }

export async function answerWhole(
  relay: Relay,
  call: Call,
  { admission, served }: { admission: Admission; served: WholeServed },
): Promise<Answer> {
  const { reply } = served
  call.firstEventMs = call.elapsedMs()
  const metered = await meter(relay, call, { usage: reply.usage, produced: reply.produced, admission })
  const record = await settle(relay, call, {
    admission,
    served,
    metered,
    outcome: call.cancelled === 'client_closed' ? call.cancelled : 'completed',
  })
  const headers = { ...earlyHeaders(admission), ...lateHeaders(record) }
  return { kind: 'whole', headers, text: reply.write(admission.model.id, metered.usage) }
}

/** Headers known before the answer. */
function earlyHeaders({ cap, hold }: Admission): Record<string, string> {
  const headers: Record<string, string> = { 'x-tollgate-held-usd': formatUsd(hold.amount) }
  if (cap !== undefined) headers['x-tollgate-max-output-tokens'] = String(cap)
  return headers
}

/** Headers known only after the settlement: a stream's are long gone by then. */
function lateHeaders(record: RequestRecord): Record<string, string> {
  const upstreamMs = record.attempts.reduce((sum, { tookMs }) => sum + tookMs, 0)
  return {
    'x-tollgate-cost-usd': formatUsd(record.charged),
    'x-tollgate-usage': record.usageSource,
    'x-tollgate-attempts': String(record.attempts.length),
    'x-tollgate-upstream-ms': String(upstreamMs),
    'openai-processing-ms': String(Math.round(record.totalMs)),
  }
}

type StreamSource = { readonly admission: Admission; readonly served: StreamServed }
type StreamJob = { readonly admission: Admission; readonly ready: Promise<Attempted> }

export function answerStream(relay: Relay, call: Call, job: StreamJob): Answer {
  return { kind: 'stream', headers: earlyHeaders(job.admission), events: streamEvents(relay, call, job) }
}

async function* streamEvents(relay: Relay, call: Call, { admission, ready }: StreamJob): AsyncGenerator<string, void> {
  try {
    const served = await ready
    if (served.kind === 'stream') return yield* passOn(relay, call, { admission, served })
    const failure: UpstreamFailure = served.kind === 'failed' ? served.failure : { kind: 'garbage', message: '' }
    yield errorEvent(await fail(relay, call, { admission, failure }))
  } finally {
    await rescue(relay, call, admission)
  }
}

async function* passOn(relay: Relay, call: Call, job: StreamSource): AsyncGenerator<string, void> {
  const progress = new Progress(relay, call, job)
  try {
    yield* progress.events()
  } finally {
    // Hang-ups leave through here without having reached an end of their own.
    await progress.settleRest()
  }
}

const errorEvent = (failure: Failure): string => dataEvent(writeFailure(failure).body)

/** Text for the client, and whether the stream goes on. */
type Step = { readonly text: string } & (
  | { readonly end: 'open' }
  | { readonly end: 'done' }
  | { readonly end: 'broken'; readonly failure: UpstreamFailure }
)

/** One committed stream on its way to the client, and its one settlement. */
class Progress {
  private readonly relay: Relay
  private readonly call: Call
  private readonly admission: Admission
  private readonly served: StreamServed
  private settled = false

  constructor(relay: Relay, call: Call, { admission, served }: StreamSource) {
    this.relay = relay
    this.call = call
    this.admission = admission
    this.served = served
  }

  async *events(): AsyncGenerator<string, void> {
    const { text, arrived } = this.served.open
    this.call.firstEventMs = this.call.elapsedMs()
    let step = this.pass(arrived, text)
    while (step.end === 'open') {
      if (step.text !== '') yield step.text
      step = await this.next()
    }
    yield step.text + (step.end === 'done' ? await this.complete() : await this.breakOff(step.failure))
  }

  /** Settles what an early leave left open: reported usage, or input plus what arrived. */
  async settleRest(): Promise<void> {
    const { call, relay, served } = this
    if (!this.settled) {
      call.cancel('client_closed')
      if (call.outlivesClient)
        await relay.drains.run(
          () => this.drain(),
          () => call.stopUpstream(),
        )
      await this.settle(call.cancelled === 'barred' ? 'barred' : 'client_closed')
    }
    await served.open.events.return()
  }

  /** Reads on without a client. */
  private async drain(): Promise<void> {
    let step = await this.next()
    while (step.end === 'open') step = await this.next()
  }

  private async next(): Promise<Step> {
    const { events, stream } = this.served.open
    try {
      const next = await events.next()
      if (!next.done) return this.pass(next.value, '')
    } catch (error) {
      if (!(error instanceof StreamBroken)) throw error
      return { end: 'broken', text: '', failure: error.failure }
    }
    // Some vendors end without a terminator. With every choice finished that is complete, otherwise it is a cut.
    if (stream.finished) return { end: 'done', text: '' }
    return { end: 'broken', text: '', failure: { kind: 'network', message: 'the upstream closed in the middle' } }
  }

  /** Reads events and joins what the client gets of them. */
  private pass(events: readonly SseEvent[], before: string): Step {
    let text = before
    for (const event of events) {
      const read = this.served.open.stream.read(event)
      if (read.kind === 'done') return { end: 'done', text }
      if (read.kind === 'failed') return { end: 'broken', text, failure: read.failure }
      text += read.text
    }
    return { end: 'open', text }
  }

  private async complete(): Promise<string> {
    const record = await this.settle('completed')
    return this.served.open.stream.end(record.usage)
  }

  /** The end of a stream that broke: the format's error in the band, and no terminator after it. */
  private async breakOff(upstream: UpstreamFailure): Promise<string> {
    const { cancelled } = this.call
    const failure = cancelled ? failureOfCancel(cancelled) : inBand(upstream)
    await this.settle(cancelled && cancelled !== 'shutdown' ? cancelled : 'cut', failure)
    if (!cancelled) this.relay.health.failed(this.served.offer.id, upstream)
    return errorEvent(failure)
  }

  private async settle(outcome: RequestRecord['outcome'], failure?: Failure): Promise<RequestRecord> {
    this.settled = true
    const { stream } = this.served.open
    const { relay, call, admission, served } = this
    const metered = await meter(relay, call, { usage: stream.usage, produced: stream.produced, admission })
    return settle(relay, call, { admission, served, metered, outcome, failure })
  }
}

/** In the middle of a stream what arrived has been charged: the message must not say otherwise. */
function inBand(upstream: UpstreamFailure): Failure {
  const { kind } = failureForClient(upstream)
  const timeout = kind === 'upstream_timeout'
  const message = timeout ? 'The upstream went silent in the middle.' : 'The upstream broke off in the middle.'
  return { kind: timeout ? kind : 'upstream_error', message: `${message} What arrived was charged.` }
}
