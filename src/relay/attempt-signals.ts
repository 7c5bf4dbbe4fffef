/** What attempts say of their offers, for routing policies. */
import type { Offer } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { outputTokens, type Usage } from '../domain/usage.ts'
import { workClassOf } from '../router/signals.ts'
import { timesOf } from './attempt-note.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { isAbandoned, type AttemptResult } from './prepared-attempt.ts'

/** An attempt is being sent. Call what it returns when its first event, its whole reply or its failure has come. */
export function attemptSent({ health }: Relay, { request }: GatewayRequest, { id }: Offer): () => void {
  const work = workClassOf(request)
  health.tried(id, work)
  return () => health.arrived(id, work)
}

/** After a programmer's error the attempt is no longer awaited either. */
export const rethrowAfter =
  (arrived: () => void) =>
  (error: unknown): never => {
    arrived()
    throw error
  }

/** A whole reply has come, or the first event of a stream. The attempt was noted before. */
export function answerCame({ health }: Relay, call: GatewayRequest, offer: Offer, came: CameAnswer): void {
  const { request, conversationKey } = call
  health.answered(offer.id, workClassOf(request), timesOf(call).firstEventMs)
  if (conversationKey) health.remembered(conversationKey, offer, request)
  if (came.kind === 'whole' && came.reply.usage) health.counted(offer, outputTokens(came.reply.usage))
}

type CameAnswer = Exclude<AttemptResult, { kind: 'failed' }>

type VainAttempt = { readonly offer: Offer; readonly startedMs: number }

/** An attempt that began `startedMs` into the call has failed. A wait in vain says that the offer is slow. */
export function answerFailedToCome(
  relay: Relay,
  call: GatewayRequest,
  attempt: VainAttempt & { readonly failure: UpstreamFailure },
): void {
  if (attempt.failure.kind === 'timeout' || isAbandoned(call)) attemptOutrun(relay, call, attempt)
}

/** Nobody waits any longer for an attempt. Its answer would have taken more than this time. */
export function attemptOutrun({ health }: Relay, call: GatewayRequest, { offer, startedMs }: VainAttempt): void {
  health.gaveUp(offer.id, workClassOf(call.request), call.elapsedMs() - startedMs)
}

/** A stream is complete. */
export function streamEnded({ health }: Relay, call: GatewayRequest, offer: Offer, usage: Usage | undefined): void {
  if (!usage) return
  const tokens = outputTokens(usage)
  health.streamed(offer, workClassOf(call.request), { tokens, times: timesOf(call) })
}
