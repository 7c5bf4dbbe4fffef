/**
 * Tries offers in the order of the plan until one commits: a whole reply, or a stream's first meaningful event.
 * Over 300 lines: the ways from one offer to the next share the state of one call.
 */
import type { Offer } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { refusedField } from '../formats/core/refused-field.ts'
import type { Admission } from './admit.ts'
import { isBeyond, isRefusal, mayHaveBeenMade, refusesStream } from './attempt-faults.ts'
import { redactedFailure, note, noteOutrun } from './attempt-note.ts'
import type { GatewayRequest } from './call.ts'
import { answerCame, answerFailedToCome, attemptOutrun, attemptSent, rethrowAfter } from './attempt-signals.ts'
import type { Relay } from './context.ts'
import { NONE_TRIED, type OffersOutcome } from './offers-outcome.ts'
import { pause } from './pause.ts'
import { Racer } from './racer.ts'
import type { AttemptedOffer, RunningAttempt } from './running-attempt.ts'
import { waitForSame } from './same-offer.ts'
import { soon } from '../lib/primitives/soon.ts'
import { FULL, type Permit } from './provider-concurrency.ts'
import {
  capOf,
  carriedOut,
  isAbandoned,
  prepareAttempt,
  type FailedAttempt,
  type AttemptResult,
  type PreparedAttempt,
} from './prepared-attempt.ts'
import { limit } from '../lib/primitives/limit.ts'
import { offerFailure, withAnotherKey, withKey } from './keyed-choice.ts'
import { type OfferChoice, dialectsFor, isUnchanged, offerChoiceOf } from './offer-choice.ts'

const NOTHING: readonly string[] = []
/** The number of fields that may be left out for one offer during one call. */
const WITHOUT_MAX = limit('fieldsLeftOutMax', 4, 'An offer that refuses more fields of a request counts as failed.')

export function tryOffers(relay: Relay, call: GatewayRequest, admission: Admission): Promise<OffersOutcome> {
  relay.retries.earn()
  return tryOffersOf(relay, call, admission)
}

/** The same for a further model of a request. */
export const tryOffersOf = (relay: Relay, call: GatewayRequest, admission: Admission): Promise<OffersOutcome> =>
  Promise.resolve(new AttemptLoop(relay, call, admission).goOn())

/** The way of one call from offer to offer. Each step ends with the next one, so the usual way has a single step. */
class AttemptLoop {
  private readonly relay: Relay
  private readonly call: GatewayRequest
  private readonly admission: Admission
  private failed = NONE_TRIED
  /** Offers whose provider had no free permit. */
  private readonly full: OfferChoice[] = []
  private next = 0
  /** The place in the plan at which the call waits for full providers. Undefined after the wait. */
  private waitAt: number | undefined
  private left: number
  /** The offer that failed last, if it may be tried once more after a moment. */
  private again: { readonly offer: Offer; readonly waitMs: number } | undefined
  private hasRepeated = false
  /** The offer that has refused fields last, and the fields. */
  private refused: { readonly offerId: string; readonly fields: readonly string[] } | undefined

  constructor(relay: Relay, call: GatewayRequest, admission: Admission) {
    this.relay = relay
    this.call = call
    this.admission = admission
    this.left = relay.limits.attemptsMax
    const { offers } = admission
    // Resting offers come last in the plan. A short wait for a full one comes before them.
    const firstResting = offers.length < 2 ? -1 : offers.findIndex(({ id }) => relay.health.isResting(id))
    this.waitAt = firstResting === -1 ? offers.length : firstResting
  }

  /** The result of the offers that have not been tried yet. */
  goOn(): OffersOutcome | Promise<OffersOutcome> {
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

  /** Waits a moment for the first free permit. */
  private async wait(): Promise<OffersOutcome> {
    const { relay, call } = this
    // The providers are read again, because an operator may have changed their limits.
    const choices = this.full.flatMap(({ offer }) => offerChoiceOf(relay, offer) ?? [])
    const providers = choices.map(({ provider }) => provider)
    // A failed attempt is no longer billed, so a client that leaves ends the wait.
    call.life.waiting()
    const [provider, permit] = (await relay.concurrency.wait(providers, call.caller.account.id, call)) ?? []
    const choice = choices.find((one) => one.provider === provider)
    return choice && permit ? this.ask(choice, permit) : this.goOn()
  }

  private end(): OffersOutcome | Promise<OffersOutcome> {
    const [first] = this.full
    const { again, left, relay, admission } = this
    // A fall-back model is the better second try.
    const mayRepeat = left > 0 && !admission.fallbacks?.length
    if (again && mayRepeat && relay.retries.spend(performance.now())) return this.repeat(again)
    if (!first || this.failed.last) return this.failed
    note(this.call, first, this.call.elapsedMs(), 'full')
    return { ...this.failed, failure: FULL }
  }

  /** Tries the last offer once more after a passing failure. */
  private async repeat({ offer, waitMs }: NonNullable<typeof this.again>): Promise<OffersOutcome> {
    const { relay, call } = this
    this.again = undefined
    this.hasRepeated = true
    // A failed attempt is no longer billed, so a client that leaves ends the wait.
    call.life.waiting()
    await pause(call, waitMs)
    const choice = offerChoiceOf(relay, offer)
    const permit = isAbandoned(call) ? undefined : choice && relay.concurrency.take(choice.provider)
    if (!choice || !permit) return { ...this.failed, cancelled: call.cancelled, stopped: call.upstreamStopped }
    this.left--
    return this.tryOffer(choice, permit)
  }

  private ask(choice: OfferChoice, permit: Permit): OffersOutcome | Promise<OffersOutcome> {
    const { relay, call } = this
    const isOver = this.left === 0 || (this.full.length > 0 && isAbandoned(call))
    // After an offer that the request did not fit, the next attempt puts no load on a failing vendor.
    const isFree = !this.failed.last || isBeyond(this.failed.failure)
    if (isOver || (!isFree && !relay.retries.spend(performance.now()))) {
      permit.leave()
      return this.failed
    }
    this.left--
    return this.tryOffer(choice, permit)
  }

  private tryOffer(chosen: OfferChoice, permit: Permit): OffersOutcome | Promise<OffersOutcome> {
    const { relay, call, admission } = this
    // Nearly every provider has one key.
    const choice = chosen.provider.keys ? withKey(relay, chosen, permit, { call, admission }) : chosen
    if (!choice) {
      permit.leave()
      // Nothing was sent.
      this.left++
      this.full.push(chosen)
      return this.goOn()
    }
    call.life.attempting(permit)
    const racer = admission.model.limits.hedging === 'on' ? new Racer(call) : undefined
    const running = this.send(choice, permit, racer)
    if ('failed' in running) return this.failedAt(running.failed, running.asked)
    this.current(running)
    const { arrived, result } = running
    if (racer) return this.hedge(running)
    return result.then((tried) => {
      arrived()
      return this.tried(running, tried)
    }, rethrowAfter(arrived))
  }

  /** Sends the request to an offer. A request that cannot be expressed in its dialect fails at once. */
  private send(
    choice: OfferChoice,
    permit: Permit,
    racer: Racer | undefined,
  ): RunningAttempt | { readonly failed: FailedAttempt; readonly asked: AttemptedOffer } {
    const { relay, call, admission } = this
    const { offer, provider, preset } = choice
    const without = this.refusedBy(offer)
    const startedMs = call.elapsedMs()
    const adapter = call.request.adapter(
      dialectsFor(choice, call.request),
      relay.pictures.adapterContextOf(call, provider, admission.model),
    )
    const target = { provider, preset, failures: adapter.failures }
    const prepared = prepareAttempt(relay, call, { target, adapter, offer, admission, without, owner: racer ?? call })
    if ('kind' in prepared) {
      return { failed: prepared, asked: { choice, permit, startedMs, dropped: NOTHING, isWhole: false } }
    }
    const arrived = attemptSent(relay, call, offer)
    const asked = { choice, permit, startedMs, dropped: prepared.request.dropped, isWhole: prepared.isWhole }
    const result = carriedOut(call, prepared)
    // Nobody may wait for the result of a racer.
    if (racer) void result.then(arrived, arrived)
    return { asked, prepared, racer, arrived, result }
  }

  /** The life of the request is that of this attempt from now on. */
  private current({ prepared, racer }: RunningAttempt): void {
    const { life } = this.call
    const { demandedOutputTokensMax: demanded } = prepared.request
    const cap = demanded === undefined ? capOf(this.admission) : ({ tokens: demanded, reason: 'vendor' } as const)
    life.sent({ billsOn: prepared.billsOn, cap })
    if (racer) life.heard(racer.upstreamRequestId)
  }

  /** Asks a second offer, too, if the first is slower than most answers. The first answer wins, and is paid. */
  private async hedge(first: RunningAttempt): Promise<OffersOutcome> {
    const { relay, call, admission } = this
    const { asked, prepared, result } = first
    const delayMs = isHedgeable(prepared) ? relay.hedges.of(admission.model.id, asked.isWhole) : undefined
    let second: RunningAttempt | undefined
    try {
      const early = delayMs === undefined ? await result : await soon(result, delayMs)
      second = early || isAbandoned(call) ? undefined : this.askSecond()
      return await (second ? this.firstOf(first, second) : this.hedged(first, early ?? (await result)))
    } catch (error) {
      for (const running of [first, second]) running?.racer?.lost()
      second?.asked.permit.leave()
      throw error
    }
  }

  /** The result of two attempts at once. If the first to end has failed, the other one goes on alone. */
  private async firstOf(one: RunningAttempt, two: RunningAttempt): Promise<OffersOutcome> {
    const { call } = this
    const [ended, other] = await Promise.race([
      one.result.then(() => [one, two] as const),
      two.result.then(() => [two, one] as const),
    ])
    const tried = await ended.result
    ended.racer?.ended(tried.kind)
    // The other one is asked and paid for already, so only a fault of the request itself ends it.
    const isOver = tried.kind !== 'failed' || isRefusal(tried.failure) || isAbandoned(call)
    if (isOver) this.outrun(other)
    else this.failedOf(tried, ended.asked)
    const decisive = isOver ? ended : other
    call.life.attempting(decisive.asked.permit)
    return this.hedged(decisive, await decisive.result)
  }

  private hedged(running: RunningAttempt, tried: AttemptResult): OffersOutcome | Promise<OffersOutcome> {
    if (tried.kind !== 'failed') this.tookUntilNow(running)
    running.racer?.ended(tried.kind)
    this.current(running)
    return this.tried(running, tried)
  }

  /** Begins an attempt at the next offer that is ready, beside the current one. It is a retry of the budget. */
  private askSecond(): RunningAttempt | undefined {
    const { relay, call, admission } = this
    while (this.left > 0 && this.next < (this.waitAt ?? 0)) {
      const chosen = offerChoiceOf(relay, admission.offers[this.next++] as Offer)
      const permit = chosen && relay.concurrency.take(chosen.provider)
      const choice = permit && chosen.provider.keys ? withKey(relay, chosen, permit, { call, admission }) : chosen
      if (permit && choice && relay.retries.spendSpare(performance.now())) {
        this.left--
        const running = this.send(choice, permit, new Racer(call))
        if (!('failed' in running)) {
          if (running.prepared.billsOn) call.life.made()
          return running
        }
        permit.leave()
      } else if (permit) {
        permit.leave()
        this.next--
        return undefined
      } else if (choice) this.full.push(choice)
    }
    return undefined
  }

  /** Stops an attempt because another one has answered. This says nothing about its offer. */
  private outrun(running: RunningAttempt): void {
    const { relay, call } = this
    const { asked, racer, result } = running
    const { choice, permit, startedMs } = asked
    racer?.lost()
    void result.then(
      (late) => late.kind === 'stream' && late.open.events.close(),
      (error: unknown) => relay.log('error', 'relay.hedge', { request: call.id, message: String(error) }),
    )
    noteOutrun(call, choice, startedMs)
    permit.leave()
    this.tookUntilNow(running)
    attemptOutrun(relay, call, { offer: choice.offer, startedMs })
    relay.health.ended(choice.offer.id)
  }

  private tookUntilNow({ asked: { startedMs, isWhole } }: RunningAttempt): void {
    const { relay, call, admission } = this
    relay.hedges.took(admission.model.id, isWhole, call.elapsedMs() - startedMs)
  }

  private tried(running: RunningAttempt, tried: AttemptResult): OffersOutcome | Promise<OffersOutcome> {
    const { asked, prepared } = running
    if (tried.kind !== 'failed') return this.resultOf(asked, tried)
    if (prepared.destination.collected === true && refusesStream(tried)) return this.askWhole(asked, tried)
    // A request that requires its fields goes to an offer that takes them.
    const mayLeaveOut = this.admission.modality.passesFields && !this.call.hints?.provider.requiresParameters
    const isBounded = mayLeaveOut && this.refusedBy(asked.choice.offer).length < WITHOUT_MAX
    const field = isBounded ? refusedField(tried.failure, prepared.request.body) : undefined
    return field === undefined ? this.failedAt(tried, asked) : this.askWithout(field, asked, tried)
  }

  private resultOf(asked: AttemptedOffer, tried: AttemptResult): OffersOutcome | Promise<OffersOutcome> {
    if (tried.kind === 'failed') return this.failedAt(tried, asked)
    const { relay, call } = this
    const { choice, permit, startedMs, dropped } = asked
    const { offer } = choice
    note(call, choice, startedMs, 'ok')
    answerCame(relay, call, offer, tried)
    // The stream may still break, so it keeps its permit until its end.
    if (tried.kind === 'stream') return { kind: 'stream', open: tried.open, offer, dropped }
    permit.leave()
    relay.health.succeeded(offer.id)
    return { kind: 'whole', reply: tried.reply, isCut: tried.isCut ?? false, offer, dropped }
  }

  /** Asks the same offer for its answer in one piece. A stream was only requested for the sake of the hold. */
  private async askWhole(asked: AttemptedOffer, tried: FailedAttempt): Promise<OffersOutcome> {
    const { relay, call, admission } = this
    const { choice, permit, startedMs } = asked
    if (isAbandoned(call)) return this.failedAt(tried, asked)
    note(call, choice, startedMs, redactedFailure(relay, call, tried.failure, choice))
    await admission.growing?.coverUnseen()
    return this.tryOffer(choice, permit)
  }

  /** Tries the same offer again without the fields that it refused. A refusal is never billed. */
  private async askWithout(field: string, asked: AttemptedOffer, tried: FailedAttempt): Promise<OffersOutcome> {
    const { relay, call } = this
    const { choice, permit, startedMs } = asked
    if (isAbandoned(call)) return this.failedAt(tried, asked)
    note(call, choice, startedMs, redactedFailure(relay, call, tried.failure, choice))
    const { id: offerId } = choice.offer
    this.refused = { offerId, fields: [...this.refusedBy(choice.offer), field] }
    return this.tryOffer(choice, permit)
  }

  private refusedBy({ id }: Offer): readonly string[] {
    return this.refused?.offerId === id ? this.refused.fields : NOTHING
  }

  private failedAt(attempt: FailedAttempt, asked: AttemptedOffer): OffersOutcome | Promise<OffersOutcome> {
    const { relay, call } = this
    const failure = this.failedOf(attempt, asked)
    call.replyMemory?.forget()
    if (isAbandoned(call) || this.failed.mayBeMade || isRefusal(failure)) return this.failed
    const next = this.left > 0 && withAnotherKey(relay, asked.choice, failure)
    if (next === 'busy') this.full.push(asked.choice)
    else if (next) {
      this.left--
      return this.tryOffer(...next)
    }
    this.again = attempt.progress?.answered ? undefined : this.repetitionOf(asked.choice.offer, failure)
    return this.goOn()
  }

  /** Notes a failure. Returns it in a form that may be passed on. */
  private failedOf({ failure: said, progress }: FailedAttempt, asked: AttemptedOffer): UpstreamFailure {
    const { relay, call } = this
    const { choice, permit, startedMs, dropped, isWhole } = asked
    const { offer, provider } = choice
    const failure = redactedFailure(relay, call, said, choice)
    note(call, choice, startedMs, failure)
    permit.leave()
    const last = { offer, dropped }
    const came = { last, progress, cancelled: call.cancelled, stopped: call.upstreamStopped }
    // The request does not fit this offer. Whether it fits none is only known if no other offer failed otherwise.
    const isNeutral = isBeyond(failure) && this.failed.last && !isBeyond(this.failed.failure)
    // Of two attempts at once, either may have been made.
    const mayBeMade = this.failed.mayBeMade || mayHaveBeenMade(failure, isWhole)
    this.failed = { kind: 'failed', ...came, failure: isNeutral ? this.failed.failure : failure, mayBeMade }
    answerFailedToCome(relay, call, { offer, startedMs, failure })
    if (isAbandoned(call)) {
      relay.health.ended(offer.id)
      return failure
    }
    // If the provider was changed meanwhile, the failure belongs to its former configuration.
    const learnt = isUnchanged(relay, provider) ? offerFailure(relay, choice, failure) : undefined
    if (learnt) relay.health.failed(offer.id, learnt)
    else relay.health.ended(offer.id)
    // However many offers are too small, the call must reach one that is not.
    if (isBeyond(failure)) this.left++
    return failure
  }

  private repetitionOf(offer: Offer, failure: UpstreamFailure): typeof this.again {
    const { relay, admission } = this
    // A resting offer has failed often enough. One that is rate limited rests as long as it asked for.
    if (this.hasRepeated || (failure.kind !== 'rate' && relay.health.isResting(offer.id))) return undefined
    const waitMs = waitForSame({ failure, isUnbilled: admission.modality.isUnbilled, random: Math.random })
    return waitMs === undefined ? undefined : { offer, waitMs }
  }
}

/** Whether a second offer may be asked as well: the answer is one exchange, and nothing is paid as it arrives. */
const isHedgeable = ({ adapter, destination, limits }: PreparedAttempt): boolean =>
  !adapter.bytes && !adapter.split && !adapter.join && destination.collected !== true && limits.sendOnce !== true
