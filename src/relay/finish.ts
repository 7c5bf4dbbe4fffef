/** Ends a request. Its hold is settled or released once, with its record in the same transaction. */
import { failureForClient } from '../domain/failure-policy.ts'
import { estimatedUsage } from '../formats/core/usage-estimate.ts'
import { isRequestFault, type Failure } from '../domain/failure.ts'
import { priceOf } from '../domain/price.ts'
import { inputTokens, outputTokens, type Usage, type UsageSource } from '../domain/usage.ts'
import type { ClientRequest, MeteredUsage } from '../formats/core/contract.ts'
import type { KeptAnswer } from '../records/idempotency.ts'
import { buildRecord, type RecordAmounts, type RecordStart } from '../records/record-builder.ts'
import type { Outcome, RequestRecord, SettledRecord } from '../records/records.ts'
import type { Admission } from './admit.ts'
import type { AllFailed, ServedOffer } from './offers-outcome.ts'
import { factsOf } from './prepared-attempt.ts'
import { CLIENT_CLOSED, type GatewayRequest, type CancelReason } from './call.ts'
import type { Relay } from './context.ts'
import { endedSteps } from './conversation.ts'
import { JSON_TYPE } from '../lib/http/content-types.ts'
import { failureHeaders } from './headers.ts'
import { meter } from './meter.ts'
import { sentence, scrubbed } from './scrubbed.ts'

export type RequestEnd = {
  readonly admission: Admission
  readonly served: ServedOffer | undefined
  readonly metered: MeteredUsage
  readonly outcome: Outcome
  readonly failure?: Failure | undefined
  /** The answer as the client gets it, if the request may be repeated. */
  readonly answer: ((record: SettledRecord) => KeptAnswer) | undefined
}

type UnansweredEnd<Source> = Omit<RequestEnd, 'answer' | 'metered'> & {
  readonly metered: { readonly usage: Usage; readonly source: Source }
}

/** Charges a request. Resolves when the charge is on disk. Only then may the terminal bytes leave. */
export function settle(relay: Relay, call: GatewayRequest, ending: RequestEnd): Promise<SettledRecord> {
  const { admission, served, metered, outcome } = ending
  const cost = priceOf(metered.usage, admission.model.sale)
  const upstreamCost = served ? priceOf(metered.usage, served.offer.cost) : 0n
  const charge = { cost, priceCardId: admission.model.sale.id }
  // The callback runs before `settle` resolves, so the record exists then.
  let record!: SettledRecord
  const written = relay.ledger.settle(admission.hold, charge, ({ charged, writtenOff }) => {
    if (writtenOff > 0n)
      relay.log('warn', 'ledger.write_off', { request: call.id, amountNanoUsd: writtenOff.toString() })
    if (charged > admission.hold.amount) relay.log('warn', 'ledger.over_hold', overHold(call, admission, charged))
    record = recordOf(call, ending, { charged, writtenOff, upstreamCost })
    const output = outputTokens(metered.usage)
    // The next hold for this model must cover the whole answer.
    if (admission.growing?.cannotFollow(metered.usage)) relay.hiddenReasoners.add(admission.model.id)
    const used = inputTokens(metered.usage) + output
    // An answer from the cache says nothing about the length of answers.
    const length = served && outcome === 'completed' ? output : undefined
    const limitSteps = call.limiterPermit.settle(charged, used, length)
    const steps = relay.records.steps(record)
    steps.push(...limitSteps)
    const { lock } = call.life
    if (lock) steps.push(...lock.keep(ending.answer?.(record) ?? NOT_REPEATABLE))
    steps.push(...endedSteps(relay, call, 'served'))
    return steps
  })
  return written.then(() => finished(relay, call, record))
}

/** The log fields of a charge above its hold. A believed report exceeded the request, so spend limits were passed. */
const overHold = (call: GatewayRequest, { hold }: Admission, charged: bigint): Record<string, string> => ({
  request: call.id,
  account: hold.accountId,
  heldNanoUsd: hold.amount.toString(),
  chargedNanoUsd: charged.toString(),
})

type FailedEnd = {
  readonly admission: Admission
  readonly attempted: AllFailed
  /** Called before anything is written, if the client gets the failure inside a stream. */
  readonly tell?: ((failure: Failure) => void) | undefined
}

/**
 * Ends a request that no upstream served. The hold is released, unless the client caused work that must be paid. That
 * work is charged. Returns the failure for the client.
 */
export async function fail(
  relay: Relay,
  call: GatewayRequest,
  { admission, attempted, tell }: FailedEnd,
): Promise<Failure> {
  const { failure: upstream, last } = attempted
  const passed = failureForClient(upstream)
  // The upstream's message is only passed on if the request itself is at fault.
  const scrub = (): Failure => scrubbed(relay, passed, last)
  const shown = !isRequestFault(upstream.kind)
    ? passed
    : upstream.isQuoted
      ? withOwnParam(scrub(), call.request, admission)
      : scrub()
  const owed = owedFor(call, attempted)
  if (isRequestFault(upstream.kind) && !owed) call.limiterPermit.wasFutile()
  const refusal = owed?.said === undefined ? shown : { ...shown, message: `${sentence(shown.message)} ${owed.said}` }
  const failure = call.cancelled ? failureOfCancel(call.cancelled) : lastWord(call, refusal)
  if (tell) tell(failure)
  // A charged answer is kept, even if its client does not receive it.
  else if (owed && call.request.conversation) call.request.failStream(failure, factsOf(call, admission))
  if (owed) await chargeInput(relay, call, { admission, served: last, failure, owed, refusal })
  else await giveBack(relay, call, { admission, failure })
  return failure
}

/** SDKs retry by themselves. If several offers were tried, each retry of an SDK would cause several attempts. */
const lastWord = ({ life }: GatewayRequest, failure: Failure): Failure =>
  new Set(life.attempts.map(({ offerId }) => offerId)).size > 1 && failure.retryAfterMs === undefined
    ? { shouldRetry: false, ...failure }
    : failure

type ChargeNote = {
  /** The text to count, or undefined for the whole input. */
  readonly text: string | undefined
  /** The note about the charge for the client, if the upstream refused the rest of the request. */
  readonly said: string | undefined
}

/** The input that must be paid although there is no answer. A failure of an upstream is free. */
function owedFor(
  call: GatewayRequest,
  { failure: { kind }, progress, cancelled, stopped }: AllFailed,
): ChargeNote | undefined {
  if (call.cancelled === 'shutdown') return undefined
  const { answered = 0, firstParts } = progress ?? {}
  // This is our own abort. A refusal would have a status, and an upstream that was never reached did no work.
  if (cancelled && stopped && kind === 'network') {
    return { text: firstParts?.(answered + 1).text, said: undefined }
  }
  if (!firstParts || answered === 0) return undefined
  if (isRequestFault(kind)) return firstParts(answered)
  // A client that left has given up the answered parts. A repetition would request them again.
  return cancelled && !call.life.lock ? { text: firstParts(answered).text, said: undefined } : undefined
}

/** A vendor names fields that were sent to it. The name of a field that the client did not send does not help it. */
function withOwnParam(failure: Failure, request: ClientRequest, { modality }: Admission): Failure {
  const { param, ...rest } = failure
  const field = /^[\w$-]+/.exec(param ?? '')?.[0]
  const sent = modality.passesFields ? request.wholeText?.() : undefined
  return field === undefined || (sent?.includes(`"${field}"`) ?? true) ? failure : rest
}

type Debt = Pick<RequestEnd, 'admission' | 'served'> & {
  readonly failure: Failure
  readonly owed: ChargeNote
  readonly refusal: Failure
}

async function chargeInput(
  relay: Relay,
  call: GatewayRequest,
  { admission, served, failure, owed, refusal }: Debt,
): Promise<SettledRecord> {
  const counted = { usage: undefined, produced: '', promptText: owed.text, admission, complete: false }
  const metered = await meter(relay, call, counted)
  const outcome = call.cancelled ? outcomeOf(call.cancelled) : 'cut'
  const answer = (record: SettledRecord): KeptAnswer => {
    if (owed.said === undefined) return NOT_REPEATABLE
    const { status, headers, body } = call.request.failures.write(refusal)
    return { status, headers: { ...JSON_TYPE, ...headers, ...failureHeaders(record) }, body }
  }
  const recorded = outcome === 'client_closed' ? undefined : failure
  return settle(relay, call, { admission, served, metered, outcome, failure: recorded, answer })
}

export const INTERNAL: Failure = { kind: 'internal', message: 'Internal error.' }

/** Releases the hold after a programmer's error. It must not stay open as long as the process lives. */
export async function rescue(relay: Relay, call: GatewayRequest, admission: Admission): Promise<void> {
  const { ledger } = relay
  const isRefused = ledger.decides === 'when_written' && (await admission.held.durable).kind === 'refused'
  if (isRefused) return dropUnheld(relay, call)
  if (!ledger.isOpen(admission.hold)) return
  if (call.isBackground) call.request.failStream(INTERNAL, factsOf(call, admission))
  await giveBack(relay, call, { admission, failure: INTERNAL })
}

/** Forgets a request whose hold was refused. Nothing of it is on disk. */
export function dropUnheld(relay: Relay, call: GatewayRequest): void {
  call.limiterPermit.withdraw()
  if (call.request.conversation) {
    const scope = { accountId: call.caller.account.id }
    relay.turns.forget(scope, call.id)
    relay.turns.release(scope, call.id)
  }
  relay.live.delete(call)
  call.life.ended(undefined)
}

async function giveBack(
  relay: Relay,
  call: GatewayRequest,
  { admission, failure }: { admission: Admission; failure: Failure },
): Promise<void> {
  // A client that left earlier does not receive the failure.
  const ended =
    call.cancelled === 'client_closed'
      ? { outcome: call.cancelled, failure: undefined }
      : { outcome: 'failed' as const, failure }
  const ending = { admission, served: undefined, metered: nothing, ...ended } as const
  const record = recordOf(call, ending, { charged: 0n, writtenOff: 0n, upstreamCost: 0n })
  await relay.ledger.release(admission.hold, [
    ...relay.records.steps(record),
    ...call.limiterPermit.settle(0n, 0),
    ...(call.life.lock?.drop() ?? []),
    ...endedSteps(relay, call, 'unserved'),
  ])
  finished(relay, call, record)
}

/** The recorded outcome of a cancelled call whose answer had begun or was paid. */
export function outcomeOf(reason: CancelReason): Outcome {
  switch (reason) {
    case 'revoked':
    case 'suspended':
      return 'barred'
    case 'shutdown':
    case 'overdue':
      return 'cut'
    case 'client_closed':
      return reason
  }
}

/** The failure of a cancelled call, if the client still listens. */
export function failureOfCancel(reason: CancelReason): Failure {
  switch (reason) {
    case 'revoked':
      return { kind: 'invalid_key', message: 'The API key was revoked during this request.' }
    case 'suspended':
      return { kind: 'account_suspended', message: 'This account was suspended during this request.' }
    case 'shutdown':
      return { kind: 'unavailable', message: 'The gateway is shutting down.', retryAfterMs: 1_000 }
    case 'overdue':
      return {
        kind: 'upstream_timeout',
        message: 'The request exceeded its maximum duration. Its input and the output so far were charged.',
        shouldRetry: false,
      }
    case 'client_closed':
      return CLIENT_CLOSED
  }
}

/** A charged answer that no repetition gets, for example because the client was barred or the gateway shut down. */
export const NOT_REPEATABLE: KeptAnswer = { status: 200, headers: {}, body: undefined }

const nothing = { usage: estimatedUsage(0, 0), source: undefined }

function finished<Ended extends RequestRecord>(relay: Relay, call: GatewayRequest, record: Ended): Ended {
  relay.live.delete(call)
  call.life.ended(record)
  relay.onRecord(record, call)
  return record
}

function recordOf<Source extends UsageSource | undefined>(
  call: GatewayRequest,
  ending: UnansweredEnd<Source>,
  amounts: RecordAmounts,
): RequestRecord & { readonly usageSource: Source } {
  const { admission, served, metered, outcome, failure } = ending
  const { caller, request, life } = call
  const { hold, model } = admission
  const written = failure && request.failures.write(failure)
  const start: RecordStart = {
    hold,
    keyId: caller.key.id,
    endpoint: request.endpoint,
    model: model.id,
    stream: request.stream && request.conversation?.mode !== 'polled',
    sale: model.sale,
  }
  const end = {
    outcome,
    status: written && !life.isHeadSent ? written.status : outcome === 'client_closed' ? 499 : 200,
    errorCode: written?.code,
    usage: metered.usage,
    source: metered.source,
    offer: served?.offer,
    attempts: life.attempts,
    outputCap: life.outputCap,
    firstEventMs: life.firstEventMs,
    totalMs: call.elapsedMs(),
  }
  return buildRecord(start, end, amounts)
}
