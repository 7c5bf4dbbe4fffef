/** What is written down of an attempt: what came of it, and no words that only its two ends may know. */
import type { Offer } from '../domain/catalog.ts'
import { redactFailure } from '../vendors/redaction.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { PRIVATE_CHARS_MAX, PrivateTexts } from '../vendors/kept-words.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { brokenNote, buildAttemptNote, type AttemptEnd } from '../records/record-builder.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { KIB } from '../lib/primitives/units.ts'

/** What was exchanged with an offer. */
export type OfferExchange = {
  readonly offer: Offer
  /** What came of its answer, where it had begun: nothing of that is kept either. */
  readonly output?: readonly string[]
}

/** A failure of this call as it may be told and kept. */
export function discreetly(
  relay: Relay,
  call: GatewayRequest,
  failure: UpstreamFailure,
  { offer, output = [] }: OfferExchange,
): UpstreamFailure {
  const { upstreamRequestId: requestId } = call.life
  return redactFailure(requestId === undefined ? failure : { requestId, ...failure }, {
    secret: relay.catalog.provider(offer.providerId)?.secret,
    texts: new PrivateTexts(textsOf(call, output)),
    known: [offer.upstreamModel, offer.modelId],
    keepsMessages: relay.upstreamMessages === 'kept',
  })
}

/** What no word may be kept of; undefined where putting it together would take too long. */
function textsOf({ request }: GatewayRequest, output: readonly string[]): readonly string[] | undefined {
  if (request.textBytes + request.mediaBytes > PRIVATE_CHARS_MAX) return undefined
  const whole = request.wholeText?.() ?? ''
  const addresses = request.remoteMedia?.map(({ url }) => url) ?? []
  // Pictures as they were sent: what a vendor would repeat of one is no word.
  return [whole.length > PRIVATE_CHARS_MAX / 2 ? '' : whole, request.promptText(), ...addresses, ...output]
}

/** Notes what came of an attempt that began `startedMs` into the call. */
export function note(
  call: GatewayRequest,
  offer: Offer,
  startedMs: number,
  came: UpstreamFailure | 'full' | 'ok',
): void {
  const tookMs = Math.round(call.elapsedMs() - startedMs)
  call.life.noted(buildAttemptNote(offer, endOf(call, came), { startedMs: Math.round(startedMs), tookMs }))
}

function endOf(call: GatewayRequest, came: UpstreamFailure | 'full' | 'ok'): AttemptEnd {
  if (came === 'full') return { kind: came }
  if (came === 'ok') return { kind: came, requestId: keptIdOf(call) }
  // Our own doing, for a client that left, say: not to be counted among the faults of a vendor.
  const isCut = came.kind === 'network' || came.kind === 'unreachable' || came.kind === 'garbage'
  return isCut && call.upstreamStopped ? { kind: 'aborted' } : { kind: 'failed', failure: came }
}

/** In a longer request an id is not looked for: that would take longer than the request takes us. */
const SEARCHED_CHARS_MAX = 64 * KIB

function keptIdOf({ life, request }: GatewayRequest): string | undefined {
  const { upstreamRequestId: requestId } = life
  if (requestId === undefined) return undefined
  const whole = request.textBytes + request.mediaBytes > SEARCHED_CHARS_MAX ? '' : wordsOf(request)
  return whole.length <= SEARCHED_CHARS_MAX && whole.includes(requestId) ? undefined : requestId
}

const wordsOf = (request: ClientRequest): string => request.wholeText?.() ?? request.promptText()

/** Notes that the attempt that served came to nothing good in the middle of its stream. */
export function noteBroken(call: GatewayRequest, failure: UpstreamFailure): void {
  call.life.broke((served) => brokenNote(served, failure, Math.round(call.elapsedMs() - served.startedMs)))
}
