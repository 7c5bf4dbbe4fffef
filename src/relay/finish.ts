/** The end of a request: what it cost, settled or released once, with its record in the same transaction. */
import { isRequestFault, type Failure } from '../domain/failure.ts'
import { priceOf } from '../domain/price.ts'
import { tokensOfImage } from '../domain/image.ts'
import { inputTokens, outputTokens, sameUsage, type Usage, type UsageSource } from '../domain/usage.ts'
import { failureForClient } from '../formats/chat/failure.ts'
import { asProduced, type Produced } from '../formats/produced.ts'
import { estimatedUsage } from '../formats/chat/usage.ts'
import type { DeliveredImage, Metered, Painted } from '../formats/format.ts'
import { paintedUsage } from '../formats/gemini/usage.ts'
import type { KeptAnswer } from '../records/idempotency.ts'
import { recordSteps, type Outcome, type RequestRecord, type SettledRecord } from '../records/records.ts'
import type { Admission } from './admit.ts'
import { factsOf, type AllFailed, type Served } from './attempt.ts'
import { CLIENT_CLOSED, type Call, type CancelReason } from './call.ts'
import type { Relay } from './context.ts'
import { tokensBesideText } from './count-input.ts'
import { endedSteps, isBackground } from './conversation.ts'
import { failureHeaders, JSON_TYPE } from './headers.ts'

export type Ending = {
  readonly admission: Admission
  readonly served: Served | undefined
  readonly metered: Metered
  readonly outcome: Outcome
  readonly failure?: Failure | undefined
  /** The answer as the client gets it, where the request may be repeated. */
  readonly answer: ((record: SettledRecord) => KeptAnswer) | undefined
}

type Unanswered<Source> = Omit<Ending, 'answer' | 'metered'> & {
  readonly metered: { readonly usage: Usage; readonly source: Source }
}

type ToMeter = {
  readonly usage: Usage | undefined
  /** What arrived, and apart from it the reasoning, where the two can be told apart. */
  readonly produced: string | Produced
  readonly thoughts?: string | Produced | undefined
  readonly delivered?: readonly DeliveredImage[] | undefined
  readonly begun?: number | undefined
  readonly painted?: Painted | undefined
  /** What is counted as input where no usage is known; the whole request's without it. */
  readonly promptText?: string | undefined
  readonly admission: Admission
  /** Whether the answer reached its end: a running usage of a broken one is behind what arrived. */
  readonly complete: boolean
}

/** How far a report may pass the quote before it is taken for a mistake: 4 times, and a margin for hidden prompts. */
const PLAUSIBLE_FACTOR = 4
const PLAUSIBLE_MARGIN_TOKENS = 20_000

/** Takes the upstream's usage where it is plausible, or counts what went in and came out. */
export function meter(relay: Relay, call: Call, to: ToMeter): Metered | Promise<Metered> {
  const { usage, painted, admission } = to
  const plausible = usage && isPlausible(usage, admission)
  if (usage && !plausible) relay.log('error', 'usage.implausible', { request: call.id, ...usage })
  // Nearly every answer: there is nothing to count, and nothing to wait for.
  if (plausible && isWhole(usage, to) && !painted && !call.request.meter) return { usage, source: 'reported' }
  return meterAnew(relay, call, { ...to, usage: plausible ? usage : undefined })
}

async function meterAnew(relay: Relay, call: Call, to: ToMeter): Promise<Metered> {
  const { usage, delivered = [], begun = 0, painted, admission, complete } = to
  if (call.request.meter) {
    const [promptTokens = 0] = usage ? [] : await relay.tokens.count([call.request.promptText()])
    return call.request.meter({ usage, delivered, begun, model: admission.model, promptTokens })
  }
  const metered = await meterWords(relay, call, to)
  if (!painted) return metered
  return paintedUsage(metered, {
    ...painted,
    imageTokens: tokensOfImage(admission.model.limits.image, call.request.painting?.quality),
    isReported: usage !== undefined && complete,
    hasWords: asProduced(to.produced).text.trim() !== '',
  })
}

async function meterWords(relay: Relay, call: Call, to: ToMeter): Promise<Metered> {
  const { usage, produced, thoughts = '', promptText, admission, complete } = to
  if (usage && isWhole(usage, to)) return { usage, source: 'reported' }
  const { request } = call
  const [said, thought] = [asProduced(produced), asProduced(thoughts)]
  const texts = [promptText ?? request.promptText(), said.text, thought.text]
  const [prompt = 0, saidBegun = 0, thoughtBegun = 0] = await relay.tokens.count(texts)
  const [words, thinking] = [withRest(saidBegun, said), withRest(thoughtBegun, thought)]
  const { quoted } = admission
  // A count of our own is no reason to charge more than was agreed to: whoever sends more than was asked for gives it.
  const input = Math.min(prompt + tokensBesideText(request, admission.model), quoted.inputTokens)
  if (!usage)
    return { usage: estimatedUsage(input, Math.min(words + thinking, quoted.outputTokens)), source: 'estimated' }
  const withInput = inputTokens(usage) > 0 ? usage : { ...usage, inputFresh: input }
  const isKnown = complete && outputTokens(usage) > 0
  const counted = isKnown
    ? withInput
    : atLeast(withInput, Math.min(words, quoted.outputTokens), Math.min(thinking, quoted.outputTokens))
  return { usage: counted, source: sameUsage(counted, usage) ? 'reported' : 'estimated' }
}

/**
 * Whether a report says it all: that of a complete answer, unless it says that nothing went in, or came out, where
 * something did. A vendor may leave out what it has in a cache (ollama#5370), or send zeros where it has not counted.
 */
function isWhole(usage: Usage, { produced, thoughts = '', complete }: ToMeter): boolean {
  if (!complete) return false
  const output = outputTokens(usage)
  if (output > 0) return inputTokens(usage) > 0
  return asProduced(produced).text === '' && asProduced(thoughts).text === ''
}

/**
 * A running usage is behind what arrived, so the larger counts. Like with like: reasoning that was reported apart is
 * not counted again as text.
 */
function atLeast(usage: Usage, words: number, thought: number): Usage {
  const isApart = usage.outputReasoning > 0
  const outputText = Math.max(usage.outputText, isApart ? words : words + thought)
  const outputReasoning = isApart ? Math.max(usage.outputReasoning, thought) : 0
  return { ...usage, outputText, outputReasoning }
}

/** The count of all that was produced, where only its beginning was counted: the rest is taken to be like it. */
const withRest = (counted: number, { text, moreChars }: Produced): number =>
  moreChars === 0 ? counted : counted + Math.ceil((moreChars * counted) / text.length)

function isPlausible(usage: Usage, { quoted }: Admission): boolean {
  const within = (tokens: number, bound: number): boolean =>
    tokens <= bound * PLAUSIBLE_FACTOR + PLAUSIBLE_MARGIN_TOKENS
  return within(inputTokens(usage), quoted.inputTokens) && within(outputTokens(usage), quoted.outputTokens)
}

/** Charges a request. Resolves when the charge is on disk; only then may the terminal bytes leave. */
export function settle(relay: Relay, call: Call, ending: Ending): Promise<SettledRecord> {
  const { admission, served, metered } = ending
  const cost = priceOf(metered.usage, admission.model.sale)
  const upstreamCost = served ? priceOf(metered.usage, served.offer.cost) : 0n
  const charge = { cost, priceCardId: admission.model.sale.id }
  // Made before `settle` returns: what is written with a settlement is asked for at once.
  let record!: SettledRecord
  const written = relay.ledger.settle(admission.hold, charge, ({ charged, writtenOff }) => {
    if (writtenOff > 0n)
      relay.log('warn', 'ledger.write_off', { request: call.id, amountNanoUsd: writtenOff.toString() })
    record = recordOf(call, ending, { charged, writtenOff, upstreamCost })
    call.entry.settle(charged, inputTokens(metered.usage) + outputTokens(metered.usage))
    const steps = recordSteps(record)
    if (call.claim) steps.push(...call.claim.keep(ending.answer?.(record) ?? NOT_REPEATABLE))
    steps.push(...endedSteps(relay, call, 'served'))
    return steps
  })
  return written.then(() => finished(relay, call, record))
}

type Unserved = {
  readonly admission: Admission
  readonly attempted: AllFailed
  /** Called before anything is written, where the client hears of it inside a stream. */
  readonly tell?: ((failure: Failure) => void) | undefined
}

/**
 * Ends a request no upstream served. The hold goes back, unless the client had the upstream work for nothing: what it
 * owes for that is charged. Returns what the client is told.
 */
export async function fail(relay: Relay, call: Call, { admission, attempted, tell }: Unserved): Promise<Failure> {
  const { failure: upstream, last } = attempted
  const passed = failureForClient(upstream)
  // Only the request's own faults are told in an upstream's words.
  const told = isRequestFault(upstream.kind) ? scrubbed(relay, passed, last) : passed
  const owed = owedFor(call, attempted)
  if (isRequestFault(upstream.kind) && !owed) call.entry.wasFutile()
  const refusal = owed?.said === undefined ? told : { ...told, message: `${sentence(told.message)} ${owed.said}` }
  const failure = call.cancelled ? failureOfCancel(call.cancelled) : lastWord(call, refusal)
  if (tell) tell(failure)
  // What is charged is kept, whether its client hears of it or not.
  else if (owed && call.request.conversation) call.request.failStream(failure, factsOf(call, admission))
  if (owed) call.paid = await chargeInput(relay, call, { admission, served: last, failure, owed, refusal })
  else await giveBack(relay, call, { admission, failure })
  return failure
}

/** SDKs come back by themselves: where one offer after the other was asked, each of their tries would be several. */
const lastWord = ({ attempts }: Call, failure: Failure): Failure =>
  attempts.length > 1 && failure.retryAfterMs === undefined ? { shouldRetry: false, ...failure } : failure

type Owed = {
  /** What is counted; undefined: the whole input. */
  readonly text: string | undefined
  /** Where the upstream refused the rest of the request: what its client is told of the charge. */
  readonly said: string | undefined
}

/** The input that is to be paid although nothing came of it. What fails by an upstream's doing is free. */
function owedFor(call: Call, { failure: { kind }, progress, cancelled, stopped }: AllFailed): Owed | undefined {
  if (call.cancelled === 'shutdown') return undefined
  const { answered = 0, firstParts } = progress ?? {}
  // Our own abort; a refusal would have had a status, and an upstream that was never reached has done no work.
  if (cancelled && stopped && kind === 'network') {
    return { text: firstParts?.(answered + 1).text, said: undefined }
  }
  if (!firstParts || answered === 0) return undefined
  if (isRequestFault(kind)) return firstParts(answered)
  // Whoever left has given up what was answered; a repetition would ask for it again.
  return cancelled && !call.claim ? { text: firstParts(answered).text, said: undefined } : undefined
}

type Debt = Pick<Ending, 'admission' | 'served'> & {
  readonly failure: Failure
  readonly owed: Owed
  readonly refusal: Failure
}

async function chargeInput(
  relay: Relay,
  call: Call,
  { admission, served, failure, owed, refusal }: Debt,
): Promise<SettledRecord> {
  const counted = { usage: undefined, produced: '', promptText: owed.text, admission, complete: false }
  const metered = await meter(relay, call, counted)
  const outcome = call.cancelled ? outcomeOf(call.cancelled) : 'cut'
  const answer = (record: SettledRecord): KeptAnswer => {
    if (owed.said === undefined) return NOT_REPEATABLE
    const { status, headers, body } = call.request.failures.write(refusal)
    return { status, headers: { ...JSON_TYPE, ...headers, ...failureHeaders(record.attempts, record) }, body }
  }
  const recorded = outcome === 'client_closed' ? undefined : failure
  return settle(relay, call, { admission, served, metered, outcome, failure: recorded, answer })
}

const sentence = (words: string): string => (/[.!?。！？]$/.test(words) ? words : `${words}.`)

/** Shorter ones keep nobody out, and would be found in ordinary words. */
const SECRET_CHARS_MIN = 8

/** An upstream's words on a rejected request, with its own names for things replaced by ours. */
export function scrubbed(
  relay: Pick<Relay, 'catalog'>,
  failure: Failure,
  last: Pick<Served, 'offer'> | undefined,
): Failure {
  if (!last) return failure
  const provider = relay.catalog.provider(last.offer.providerId)
  const host = provider && URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).host : ''
  let { message } = failure
  for (const [theirs, ours, charsMin] of [
    [provider?.secret ?? '', '[redacted]', SECRET_CHARS_MIN],
    [host, '[upstream]', 1],
    [last.offer.upstreamModel, last.offer.modelId, 1],
  ] as const) {
    if (theirs.length >= charsMin) message = message.replaceAll(theirs, ours)
  }
  return { ...failure, message }
}

export const INTERNAL: Failure = { kind: 'internal', message: 'Internal error.' }

/** After a programmer's error: the hold must not stay open for as long as the process lives. */
export async function rescue(relay: Relay, call: Call, admission: Admission): Promise<void> {
  if (!relay.ledger.isOpen(admission.hold)) return
  if (isBackground(call.request)) call.request.failStream(INTERNAL, factsOf(call, admission))
  await giveBack(relay, call, { admission, failure: INTERNAL })
}

async function giveBack(
  relay: Relay,
  call: Call,
  { admission, failure }: { admission: Admission; failure: Failure },
): Promise<void> {
  // Nobody hears of a failure whose client has left before.
  const ended =
    call.cancelled === 'client_closed'
      ? { outcome: call.cancelled, failure: undefined }
      : { outcome: 'failed' as const, failure }
  const ending = { admission, served: undefined, metered: nothing, ...ended } as const
  const record = recordOf(call, ending, { charged: 0n, writtenOff: 0n, upstreamCost: 0n })
  call.entry.settle(0n, 0)
  await relay.ledger.release(admission.hold, [
    ...recordSteps(record),
    ...(call.claim?.drop() ?? []),
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

function finished<Ended extends RequestRecord>(relay: Relay, call: Call, record: Ended): Ended {
  relay.live.delete(call)
  call.claim?.end()
  relay.onRecord(record, call)
  return record
}

type Amounts = Pick<RequestRecord, 'charged' | 'writtenOff' | 'upstreamCost'>

function recordOf<Source extends UsageSource | undefined>(
  call: Call,
  ending: Unanswered<Source>,
  amounts: Amounts,
): RequestRecord & { readonly usageSource: Source } {
  const { admission, served, metered, outcome, failure } = ending
  const { caller, request } = call
  const written = failure && request.failures.write(failure)
  return {
    id: call.id,
    accountId: caller.account.id,
    keyId: caller.key.id,
    endpoint: request.endpoint,
    model: admission.model.id,
    stream: request.stream && request.conversation?.mode !== 'polled',
    status: written && !call.isBegun ? written.status : outcome === 'client_closed' ? 499 : 200,
    outcome,
    errorCode: written?.code,
    offerId: served?.offer.id,
    providerId: served?.offer.providerId,
    upstreamModel: served?.offer.upstreamModel,
    usage: metered.usage,
    usageSource: metered.source,
    priceCardId: admission.model.sale.id,
    costCardId: served?.offer.cost.id,
    held: admission.hold.amount,
    charged: amounts.charged,
    writtenOff: amounts.writtenOff,
    upstreamCost: amounts.upstreamCost,
    attempts: call.attempts,
    createdAtMs: admission.hold.createdAtMs,
    firstEventMs: call.firstEventMs,
    totalMs: call.elapsedMs(),
  }
}
