/** Trying offers in the order of the plan, until one commits: a whole reply, or a stream's first meaningful event. */
import type { Offer } from '../domain/catalog.ts'
import { isFinalFault, type UpstreamFailure } from '../domain/failure.ts'
import type { AdaptedReply } from '../formats/core/contract.ts'
import { refusedField } from '../formats/core/refused-field.ts'
import type { Admission } from './admit.ts'
import { discreetly, note } from './attempt-note.ts'
import type { GatewayRequest, CancelReason } from './call.ts'
import type { Relay } from './context.ts'
import { pause } from './pause.ts'
import { waitForSame } from './same-offer.ts'
import { FULL, type Permit } from './provider-concurrency.ts'
import {
  capOf,
  carriedOut,
  isForNobody,
  prepareAttempt,
  type FailedAttempt,
  type OpenStream,
  type Progress,
  type AttemptResult,
} from './prepared-attempt.ts'
import { limit } from '../lib/primitives/limit.ts'
import { type OfferChoice, dialectsOf, isAsItWas, offerChoiceOf } from './offer-choice.ts'

export type ServedOffer = {
  readonly offer: Offer
  /** What the client asked for and this upstream could not do. */
  readonly dropped: readonly string[]
}
export type WholeServed = ServedOffer & {
  readonly kind: 'whole'
  readonly reply: AdaptedReply
  /** Whether it was ended for want of money. */
  readonly isCut: boolean
}
export type StreamServed = ServedOffer & { readonly kind: 'stream'; readonly open: OpenStream }
export type AllFailed = {
  readonly kind: 'failed'
  readonly failure: UpstreamFailure
  /** The offer that failed last. */
  readonly last: ServedOffer | undefined
  /** How far it came, where the request is several of its own. */
  readonly progress: Progress | undefined
  /** Whether the call had been cancelled by then, and the upstream told to stop: what came later was not the cause. */
  readonly cancelled: CancelReason | undefined
  readonly stopped: boolean
}
export type AttemptOutcome = WholeServed | StreamServed | AllFailed

const NOTHING: readonly string[] = []
/** So many fields are left out for one offer in one call. */
const WITHOUT_MAX = limit('fieldsLeftOutMax', 4, 'An offer that refuses more fields of a request counts as failed.')

const NONE_TRIED: AllFailed = {
  kind: 'failed',
  failure: { kind: 'model_gone', message: 'no offer could be tried' },
  last: undefined,
  progress: undefined,
  cancelled: undefined,
  stopped: false,
}

/** An offer that was asked. */
type AttemptedOffer = {
  readonly choice: OfferChoice
  readonly permit: Permit
  readonly startedMs: number
  readonly dropped: readonly string[]
  /** Whether it was to answer in one piece, however its client gets that. */
  readonly isWhole: boolean
}

export function tryOffers(relay: Relay, call: GatewayRequest, admission: Admission): Promise<AttemptOutcome> {
  relay.retries.earn()
  return Promise.resolve(new Tries(relay, call, admission).goOn())
}

/** One call's way from offer to offer. Each step ends with the next one, so that the common way is a single one. */
class Tries {
  private readonly relay: Relay
  private readonly call: GatewayRequest
  private readonly admission: Admission
  private failed = NONE_TRIED
  /** Where there was no seat. */
  private readonly full: OfferChoice[] = []
  private next = 0
  /** The place in the plan at which those that are full are waited for; undefined once they were. */
  private waitAt: number | undefined
  private left: number
  /** The offer that failed last, where it may be asked once more after a moment. */
  private again: { readonly offer: Offer; readonly waitMs: number } | undefined
  private hasRepeated = false
  /** Fields that the offer which is asked has refused. */
  private without: readonly string[] = NOTHING

  constructor(relay: Relay, call: GatewayRequest, admission: Admission) {
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
  goOn(): AttemptOutcome | Promise<AttemptOutcome> {
    const { relay, admission } = this
    for (;;) {
      if (this.next === this.waitAt) {
        this.waitAt = undefined
        if (this.full.length > 0 && this.left > 0) return this.wait()
      }
      const offer = admission.offers[this.next++]
      if (!offer) return this.end()
      const choice = offerChoiceOf(relay, offer)
      const permit = choice && relay.concurrency.take(choice.provider)
      if (permit) return this.ask(choice, permit)
      if (choice) this.full.push(choice)
    }
  }

  /** Waits a moment for the first seat anywhere. */
  private async wait(): Promise<AttemptOutcome> {
    const { relay, call } = this
    // As they are by now: an operator may have changed how many they take.
    const choices = this.full.flatMap(({ offer }) => offerChoiceOf(relay, offer) ?? [])
    const providers = choices.map(({ provider }) => provider)
    // One that failed bills nothing on: who leaves meanwhile ends the wait.
    call.life.waiting()
    const [provider, permit] = (await relay.concurrency.wait(providers, call.caller.account.id, call)) ?? []
    const choice = choices.find((one) => one.provider === provider)
    return choice && permit ? this.ask(choice, permit) : this.goOn()
  }

  private end(): AttemptOutcome | Promise<AttemptOutcome> {
    const [first] = this.full
    if (this.again && this.left > 0 && this.relay.retries.spend(performance.now())) return this.repeat(this.again)
    if (!first || this.failed.last) return this.failed
    note(this.call, first.offer, this.call.elapsedMs(), 'full')
    return { ...this.failed, failure: FULL }
  }

  /** Asks the last offer once more: what failed in passing. */
  private async repeat({ offer, waitMs }: NonNullable<typeof this.again>): Promise<AttemptOutcome> {
    const { relay, call } = this
    this.again = undefined
    this.hasRepeated = true
    // One that failed bills nothing on: who leaves meanwhile ends the wait.
    call.life.waiting()
    await pause(call, waitMs)
    const choice = offerChoiceOf(relay, offer)
    const permit = isForNobody(call) ? undefined : choice && relay.concurrency.take(choice.provider)
    if (!choice || !permit) return { ...this.failed, cancelled: call.cancelled, stopped: call.upstreamStopped }
    this.left--
    return this.tryOffer(choice, permit)
  }

  private ask(choice: OfferChoice, permit: Permit): AttemptOutcome | Promise<AttemptOutcome> {
    const { relay, call } = this
    const isOver = this.left === 0 || (this.full.length > 0 && isForNobody(call))
    // What was beyond one offer is no load that a vendor which is down would have to be spared.
    const isFree = !this.failed.last || isBeyond(this.failed.failure)
    if (isOver || (!isFree && !relay.retries.spend(performance.now()))) {
      permit.leave()
      return this.failed
    }
    this.left--
    this.without = NOTHING
    return this.tryOffer(choice, permit)
  }

  private tryOffer(choice: OfferChoice, permit: Permit): AttemptOutcome | Promise<AttemptOutcome> {
    const { relay, call, admission } = this
    const { offer, provider, preset } = choice
    call.life.attempting(permit)
    const startedMs = call.elapsedMs()
    const adapter = call.request.adapter(
      dialectsOf(choice, call.request),
      relay.pictures.adapterContextOf(call, provider, admission.model),
    )
    const target = { provider, preset, failures: adapter.failures }
    const trial = prepareAttempt(relay, call, { target, adapter, offer, admission, without: this.without })
    if ('kind' in trial) return this.failedAt(trial, { choice, permit, startedMs, dropped: NOTHING, isWhole: false })
    relay.health.tried(offer.id)
    const { demandedOutputTokensMax: demanded } = trial.request
    const cap = demanded === undefined ? capOf(admission) : ({ tokens: demanded, reason: 'vendor' } as const)
    call.life.sent({ billsOn: trial.billsOn, cap })
    const asked = { choice, permit, startedMs, dropped: trial.request.dropped, isWhole: trial.isWhole }
    const isCollected = trial.destination.collected === true
    return carriedOut(call, trial).then((tried) => {
      if (tried.kind !== 'failed') return this.cameOf(asked, tried)
      if (isCollected && refusesStream(tried)) return this.askWhole(asked, tried)
      const { passesFields } = admission.modality
      const field =
        passesFields && this.without.length < WITHOUT_MAX ? refusedField(tried.failure, trial.request.body) : undefined
      return field === undefined ? this.failedAt(tried, asked) : this.askWithout(field, asked, tried)
    })
  }

  private cameOf(asked: AttemptedOffer, tried: AttemptResult): AttemptOutcome | Promise<AttemptOutcome> {
    if (tried.kind === 'failed') return this.failedAt(tried, asked)
    const { relay, call } = this
    const { choice, permit, startedMs, dropped } = asked
    const { offer } = choice
    note(call, offer, startedMs, 'ok')
    // It has yet to show that it does not break, and keeps its seat until then.
    if (tried.kind === 'stream') return { kind: 'stream', open: tried.open, offer, dropped }
    permit.leave()
    relay.health.succeeded(offer.id)
    return { kind: 'whole', reply: tried.reply, isCut: tried.isCut ?? false, offer, dropped }
  }

  /** Asks the same offer for its answer in one piece: only for the hold's sake was it asked for a stream. */
  private async askWhole(asked: AttemptedOffer, tried: FailedAttempt): Promise<AttemptOutcome> {
    const { relay, call, admission } = this
    const { choice, permit, startedMs } = asked
    if (isForNobody(call)) return this.failedAt(tried, asked)
    note(call, choice.offer, startedMs, discreetly(relay, call, tried.failure, { offer: choice.offer }))
    await admission.growing?.coverUnseen()
    return this.tryOffer(choice, permit)
  }

  /** Asks the same offer again, without what it has refused to hear of. A refusal is billed by nobody. */
  private askWithout(
    field: string,
    asked: AttemptedOffer,
    tried: FailedAttempt,
  ): AttemptOutcome | Promise<AttemptOutcome> {
    const { relay, call } = this
    const { choice, permit, startedMs } = asked
    if (isForNobody(call)) return this.failedAt(tried, asked)
    note(call, choice.offer, startedMs, discreetly(relay, call, tried.failure, { offer: choice.offer }))
    this.without = [...this.without, field]
    return this.tryOffer(choice, permit)
  }

  private failedAt(
    { failure: said, progress }: FailedAttempt,
    asked: AttemptedOffer,
  ): AttemptOutcome | Promise<AttemptOutcome> {
    const { relay, call } = this
    const { choice, permit, startedMs, dropped, isWhole } = asked
    const { offer, provider } = choice
    const failure = discreetly(relay, call, said, { offer })
    note(call, offer, startedMs, failure)
    call.replyMemory?.forget()
    permit.leave()
    const last = { offer, dropped }
    const came = { last, progress, cancelled: call.cancelled, stopped: call.upstreamStopped }
    // More than this offer can do: that it is more than any can is only known where none failed otherwise.
    const isMoot = isBeyond(failure) && this.failed.last && !isBeyond(this.failed.failure)
    this.failed = { kind: 'failed', ...came, failure: isMoot ? this.failed.failure : failure }
    if (isForNobody(call)) {
      relay.health.ended(offer.id)
      return this.failed
    }
    // One that was mended meanwhile failed with what it was before.
    if (isAsItWas(relay, provider)) relay.health.failed(offer.id, failure)
    if (isLast(failure, isWhole)) return this.failed
    // However many offers are too small, the one that is not must be reached.
    if (isBeyond(failure)) this.left++
    this.again = progress?.answered ? undefined : this.repetitionOf(offer, failure)
    return this.goOn()
  }

  private repetitionOf(offer: Offer, failure: UpstreamFailure): typeof this.again {
    const { relay, admission } = this
    // One that rests has failed often enough; one that is limited rests for as long as it asked for.
    if (this.hasRepeated || (failure.kind !== 'rate' && relay.health.isResting(offer.id))) return undefined
    const waitMs = waitForSame({ failure, isUnbilled: admission.modality.isUnbilled, random: Math.random })
    return waitMs === undefined ? undefined : { offer, waitMs }
  }
}

/**
 * A whole reply that timed out may have been made and billed: asking another vendor would pay twice for one answer.
 * Where the vendor itself says that it is late, it has given up.
 */
const isLast = (failure: UpstreamFailure, isWhole: boolean): boolean => {
  const { kind, isQuoted } = failure
  if (isBeyond(failure)) return false
  return isFinalFault(kind) || kind === 'unread' || (kind === 'timeout' && isWhole && !isQuoted)
}

/**
 * Whether an upstream refuses to stream what it may give in one piece: "Your organization must be verified to stream
 * this model" (OpenAI, github.com/charmbracelet/crush/issues/1216, 2025-10).
 */
const refusesStream = (tried: AttemptResult): tried is FailedAttempt =>
  tried.kind === 'failed' && tried.failure.kind === 'bad_request' && /\bstream/i.test(tried.failure.message)

/** Whether a request is fine, and only more than this offer takes: too long, or not to be said in its dialect. */
const isBeyond = ({ kind, isQuoted }: UpstreamFailure): boolean =>
  kind === 'context_length' || (kind === 'bad_request' && !isQuoted)
