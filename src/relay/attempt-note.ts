/** What is written down of an attempt: what came of it, and no words that only its two ends may know. */
import type { Offer } from '../domain/catalog.ts'
import { discreet, toldOf, type UpstreamFailure } from '../domain/failure.ts'
import type { Call } from './call.ts'

/** A failure of this call as it may be told and kept. */
export const discreetly = (failure: UpstreamFailure, secret: string | undefined, { request }: Call): UpstreamFailure =>
  discreet(failure, secret, (word) => request.mentions?.(word) ?? request.promptText().includes(word))

/** Notes what came of an attempt that began `startedMs` into the call. */
export function note(call: Call, offer: Offer, startedMs: number, came: UpstreamFailure | 'full' | 'ok'): void {
  const { id: offerId, providerId, upstreamModel } = offer
  const tookMs = Math.round(call.elapsedMs() - startedMs)
  const failure = typeof came === 'string' ? undefined : came
  // Our own doing, for a client that left, say: not to be counted among the faults of a vendor.
  const isCut = failure?.kind === 'network' || failure?.kind === 'unreachable' || failure?.kind === 'garbage'
  const isAborted = isCut && call.upstreamStopped
  const result = typeof came === 'string' ? came : isAborted ? 'aborted' : came.kind
  const attempt = { offerId, providerId, upstreamModel, result, startedMs: Math.round(startedMs), tookMs }
  call.attempts.push(failure && !isAborted ? { ...attempt, ...toldOf(failure) } : attempt)
}

/** Notes that the attempt that served came to nothing good in the middle of its stream. */
export function noteBroken(call: Call, failure: UpstreamFailure): void {
  const served = call.attempts.pop()
  if (!served) return
  const tookMs = Math.round(call.elapsedMs() - served.startedMs)
  call.attempts.push({ ...served, result: failure.kind, tookMs, ...toldOf(failure) })
}
