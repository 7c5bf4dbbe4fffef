/** The note of an attempt: its result, without any text that only client and vendor may know. */
import { secretsOf, type Offer, type Provider } from '../domain/catalog.ts'
import { redactFailure } from '../vendors/redaction.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { PRIVATE_CHARS_MAX, PrivateTexts } from '../vendors/kept-words.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { brokenNote, buildAttemptNote, type AttemptEnd } from '../records/record-builder.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import type { AttemptTimes } from './health-book.ts'
import { KIB } from '../lib/primitives/units.ts'

/** The exchange with an offer. */
export type OfferExchange = {
  readonly offer: Offer
  /** The provider as it was asked. Left out: as it is now. */
  readonly provider?: Provider
  /** The output, if the answer had begun. None of it is kept either. */
  readonly output?: readonly string[]
}

/** A failure of this call in a form that may be passed on and kept. */
export function redactedFailure(
  relay: Relay,
  call: GatewayRequest,
  failure: UpstreamFailure,
  { offer, provider = relay.catalog.provider(offer.providerId), output = [] }: OfferExchange,
): UpstreamFailure {
  const { upstreamRequestId: requestId } = call.life
  return redactFailure(requestId === undefined ? failure : { requestId, ...failure }, {
    secret: provider && secretsOf(provider),
    texts: new PrivateTexts(textsOf(call, output)),
    known: [offer.upstreamModel, offer.modelId],
    keepsMessages: relay.upstreamMessages === 'kept',
  })
}

/** The texts of which no word may be kept, or undefined if building them would take too long. */
function textsOf({ request }: GatewayRequest, output: readonly string[]): readonly string[] | undefined {
  if (request.textBytes + request.mediaBytes > PRIVATE_CHARS_MAX) return undefined
  const whole = request.wholeText?.() ?? ''
  const addresses = request.remoteMedia?.map(({ url }) => url) ?? []
  // Pictures are left out in the form in which they were sent. A vendor would repeat no word of them.
  return [whole.length > PRIVATE_CHARS_MAX / 2 ? '' : whole, request.promptText(), ...addresses, ...output]
}

/** Notes the result of an attempt that began `startedMs` into the call. */
export function note(
  call: GatewayRequest,
  { offer, provider }: OfferExchange,
  startedMs: number,
  came: UpstreamFailure | 'full' | 'ok',
): void {
  const tookMs = Math.round(call.elapsedMs() - startedMs)
  const known = { startedMs: Math.round(startedMs), tookMs, modelId: modelIn(call, offer), keyId: provider?.key?.id }
  call.life.noted(buildAttemptNote(offer, endOf(call, came), known))
}

/** The model of an attempt, if its request names several. */
const modelIn = ({ hints }: GatewayRequest, { modelId }: Offer): string | undefined =>
  hints !== undefined && hints.fallbacks.length > 0 ? modelId : undefined

/** Notes an attempt that was stopped because another one of the same request was faster, or the request has ended. */
export function noteOutrun(call: GatewayRequest, { offer, provider }: OfferExchange, startedMs: number): void {
  const tookMs = Math.round(call.elapsedMs() - startedMs)
  const kind = call.upstreamStopped ? 'aborted' : 'outrun'
  const known = { startedMs: Math.round(startedMs), tookMs, modelId: modelIn(call, offer), keyId: provider?.key?.id }
  call.life.noted(buildAttemptNote(offer, { kind }, known))
}

/** The times of the attempt that served, which is the last one noted. */
export function timesOf(call: GatewayRequest): AttemptTimes {
  const { startedMs = 0, tookMs: firstEventMs = 0 } = call.life.attempts.at(-1) ?? {}
  return { firstEventMs, tookMs: call.elapsedMs() - startedMs }
}

function endOf(call: GatewayRequest, came: UpstreamFailure | 'full' | 'ok'): AttemptEnd {
  if (came === 'full') return { kind: came }
  if (came === 'ok') return { kind: came, requestId: keptIdOf(call) }
  // This is our own doing, for example for a client that left, and does not count against the vendor.
  const isCut = came.kind === 'network' || came.kind === 'unreachable' || came.kind === 'garbage'
  return isCut && call.upstreamStopped ? { kind: 'aborted' } : { kind: 'failed', failure: came }
}

/** In a longer request the id is not searched. That would take longer than the rest of the request. */
const SEARCHED_CHARS_MAX = 64 * KIB

function keptIdOf({ life, request }: GatewayRequest): string | undefined {
  const { upstreamRequestId: requestId } = life
  if (requestId === undefined) return undefined
  const whole = request.textBytes + request.mediaBytes > SEARCHED_CHARS_MAX ? '' : wordsOf(request)
  return whole.length <= SEARCHED_CHARS_MAX && whole.includes(requestId) ? undefined : requestId
}

const wordsOf = (request: ClientRequest): string => request.wholeText?.() ?? request.promptText()

/** Notes that the attempt that served failed in the middle of its stream. */
export function noteBroken(call: GatewayRequest, failure: UpstreamFailure): void {
  call.life.broke((served) => brokenNote(served, failure, Math.round(call.elapsedMs() - served.startedMs)))
}
