/** The end of a request: what it cost, settled or released once, with its record in the same transaction. */
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
import type { AllFailed, ServedOffer } from './attempt.ts'
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
  /** The answer as the client gets it, where the request may be repeated. */
  readonly answer: ((record: SettledRecord) => KeptAnswer) | undefined
}

type UnansweredEnd<Source> = Omit<RequestEnd, 'answer' | 'metered'> & {
  readonly metered: { readonly usage: Usage; readonly source: Source }
}

/** Charges a request. Resolves when the charge is on disk; only then may the terminal bytes leave. */
export function settle(relay: Relay, call: GatewayRequest, ending: RequestEnd): Promise<SettledRecord> {
  const { admission, served, metered, outcome } = ending
  const cost = priceOf(metered.usage, admission.model.sale)
  const upstreamCost = served ? priceOf(metered.usage, served.offer.cost) : 0n
  const charge = { cost, priceCardId: admission.model.sale.id }
  // Made before `settle` returns: what is written with a settlement is asked for at once.
  let record!: SettledRecord
  const written = relay.ledger.settle(admission.hold, charge, ({ charged, writtenOff }) => {
    if (writtenOff > 0n)
      relay.log('warn', 'ledger.write_off', { request: call.id, amountNanoUsd: writtenOff.toString() })
    if (charged > admission.hold.amount) relay.log('warn', 'ledger.over_hold', overHold(call, admission, charged))
    record = recordOf(call, ending, { charged, writtenOff, upstreamCost })
    const output = outputTokens(metered.usage)
    // The next hold for this model has to be for all of an answer.
    if (admission.growing?.cannotFollow(metered.usage)) relay.hiddenReasoners.add(admission.model.id)
    call.limiterPermit.settle(
      charged,
      inputTokens(metered.usage) + output,
      outcome === 'completed' ? output : undefined,
    )
    const steps = relay.records.steps(record)
    const { lock } = call.life
    if (lock) steps.push(...lock.keep(ending.answer?.(record) ?? NOT_REPEATABLE))
    steps.push(...endedSteps(relay, call, 'served'))
    return steps
  })
  return written.then(() => finished(relay, call, record))
}

/** A vendor has reported more than it was asked for, and was believed: limits on spending were judged by the hold. */
const overHold = (call: GatewayRequest, { hold }: Admission, charged: bigint): Record<string, string> => ({
  request: call.id,
  account: hold.accountId,
  heldNanoUsd: hold.amount.toString(),
  chargedNanoUsd: charged.toString(),
})

type FailedEnd = {
  readonly admission: Admission
  readonly attempted: AllFailed
  /** Called before anything is written, where the client hears of it inside a stream. */
  readonly tell?: ((failure: Failure) => void) | undefined
}

/**
 * Ends a request no upstream served. The hold goes back, unless the client had the upstream work for nothing: what it
 * owes for that is charged. Returns what the client is told.
 */
export async function fail(
  relay: Relay,
  call: GatewayRequest,
  { admission, attempted, tell }: FailedEnd,
): Promise<Failure> {
  const { failure: upstream, last } = attempted
  const passed = failureForClient(upstream)
  // Only the request's own faults are told in an upstream's words.
  const told = isRequestFault(upstream.kind)
    ? withOwnParam(scrubbed(relay, passed, last), call.request, admission)
    : passed
  const owed = owedFor(call, attempted)
  if (isRequestFault(upstream.kind) && !owed) call.limiterPermit.wasFutile()
  const refusal = owed?.said === undefined ? told : { ...told, message: `${sentence(told.message)} ${owed.said}` }
  const failure = call.cancelled ? failureOfCancel(call.cancelled) : lastWord(call, refusal)
  if (tell) tell(failure)
  // What is charged is kept, whether its client hears of it or not.
  else if (owed && call.request.conversation) call.request.failStream(failure, factsOf(call, admission))
  if (owed) await chargeInput(relay, call, { admission, served: last, failure, owed, refusal })
  else await giveBack(relay, call, { admission, failure })
  return failure
}

/** SDKs come back by themselves: where one offer after the other was asked, each of their tries would be several. */
const lastWord = ({ life }: GatewayRequest, failure: Failure): Failure =>
  new Set(life.attempts.map(({ offerId }) => offerId)).size > 1 && failure.retryAfterMs === undefined
    ? { shouldRetry: false, ...failure }
    : failure

type ChargeNote = {
  /** What is counted; undefined: the whole input. */
  readonly text: string | undefined
  /** Where the upstream refused the rest of the request: what its client is told of the charge. */
  readonly said: string | undefined
}

/** The input that is to be paid although nothing came of it. What fails by an upstream's doing is free. */
function owedFor(
  call: GatewayRequest,
  { failure: { kind }, progress, cancelled, stopped }: AllFailed,
): ChargeNote | undefined {
  if (call.cancelled === 'shutdown') return undefined
  const { answered = 0, firstParts } = progress ?? {}
  // Our own abort; a refusal would have had a status, and an upstream that was never reached has done no work.
  if (cancelled && stopped && kind === 'network') {
    return { text: firstParts?.(answered + 1).text, said: undefined }
  }
  if (!firstParts || answered === 0) return undefined
  if (isRequestFault(kind)) return firstParts(answered)
  // Whoever left has given up what was answered; a repetition would ask for it again.
  return cancelled && !call.life.lock ? { text: firstParts(answered).text, said: undefined } : undefined
}

/** A vendor names the fields that it was sent. One that the client did not send tells the client nothing. */
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

/** After a programmer's error: the hold must not stay open for as long as the process lives. */
export async function rescue(relay: Relay, call: GatewayRequest, admission: Admission): Promise<void> {
  if (!relay.ledger.isOpen(admission.hold)) return
  if (call.isBackground) call.request.failStream(INTERNAL, factsOf(call, admission))
  await giveBack(relay, call, { admission, failure: INTERNAL })
}

async function giveBack(
  relay: Relay,
  call: GatewayRequest,
  { admission, failure }: { admission: Admission; failure: Failure },
): Promise<void> {
  // Nobody hears of a failure whose client has left before.
  const ended =
    call.cancelled === 'client_closed'
      ? { outcome: call.cancelled, failure: undefined }
      : { outcome: 'failed' as const, failure }
  const ending = { admission, served: undefined, metered: nothing, ...ended } as const
  const record = recordOf(call, ending, { charged: 0n, writtenOff: 0n, upstreamCost: 0n })
  call.limiterPermit.settle(0n, 0)
  await relay.ledger.release(admission.hold, [
    ...relay.records.steps(record),
    ...(call.life.lock?.drop() ?? []),
    ...endedSteps(relay, call, 'unserved'),
  ])
  finished(relay, call, record)
}

/** How the call of an answer that was begun, or paid, is recorded. */
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

/** What a cancelled call is told, if anybody still listens. */
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
        message: 'The request took longer than a request may. Its input and what arrived were charged.',
        shouldRetry: false,
      }
    case 'client_closed':
      return CLIENT_CLOSED
  }
}

/** Charged, and nothing that a repetition should be told: its client was barred, say, or the gateway shut down. */
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
    priceCardId: model.sale.id,
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
