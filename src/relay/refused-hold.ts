/**
 * Holds that the store refuses when it writes them. Nothing has reached the client then, and nothing is on disk. The
 * request ends as if its admission had refused it.
 */
import { limitFailure } from '../accounts/limit-failure.ts'
import type { Failure } from '../domain/failure.ts'
import type { NanoUsd } from '../domain/money.ts'
import { wordsOf } from '../formats/core/request-words.ts'
import type { HoldOutcome, HoldRefusal } from '../ledger/ledger.ts'
import { insufficient, type Admission } from './admit.ts'
import type { OffersOutcome } from './offers-outcome.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { dropUnheld, failureOfCancel } from './finish.ts'
import { answerOfOther, type ReplayedAnswer } from './idempotency.ts'

/** The attempts of a request whose hold was refused meanwhile. Their result is gone. */
export type Unheld = { readonly kind: 'unheld'; readonly refusal: HoldRefusal }

/**
 * Whether the hold must be on disk before an upstream is called or a cached answer is charged: for work that cannot be
 * undone or that its client repeats, and if the hold may well be refused.
 */
export function waitsForHold({ ledger }: Relay, call: GatewayRequest, { modality, held }: Admission): boolean {
  if (modality.needsDurableHold || !held.isSure) return true
  if (ledger.decides === 'at_once') return false
  // A hit is settled at once, and only a hold on disk can be settled.
  return call.life.lock !== undefined || call.isBackground || call.cacheUse?.kind === 'hit'
}

/**
 * The result of attempts that began while the hold is being written, once nothing stands between it and the client. If
 * the hold is refused, the upstream is stopped.
 */
export function heldFirst(
  relay: Relay,
  call: GatewayRequest,
  { admission, attempts }: { readonly admission: Admission; readonly attempts: Promise<OffersOutcome> },
): Promise<OffersOutcome | Unheld> {
  const { held } = admission
  if (relay.ledger.decides === 'at_once') {
    // The client sees nothing of a whole reply before its settlement, which is written after the hold or with it.
    if (!call.request.stream) return attempts
    return Promise.all([attempts, held.durable]).then(([attempted]) => attempted)
  }
  const written = held.durable.then((outcome) => {
    if (outcome.kind === 'refused') call.drop()
    return outcome
  })
  return Promise.all([attempts, written]).then(([attempted, outcome]) =>
    outcome.kind === 'durable' ? attempted : forgotten(relay, attempted, outcome),
  )
}

/** A stream that began in vain is closed. It says nothing about the health of its offer. */
function forgotten(
  { health }: Relay,
  attempted: OffersOutcome,
  { refusal }: Extract<HoldOutcome, { kind: 'refused' }>,
): Unheld {
  if (attempted.kind === 'stream') {
    attempted.open.events.close()
    health.ended(attempted.offer.id)
  }
  return { kind: 'unheld', refusal }
}

type RefusedRequest = { readonly refusal: HoldRefusal; readonly needed: NanoUsd }

/** Ends a request whose hold was refused. Returns what its client gets. */
export async function endUnheld(
  relay: Relay,
  call: GatewayRequest,
  refused: RefusedRequest,
): Promise<ReplayedAnswer | { readonly kind: 'failure'; readonly failure: Failure }> {
  dropUnheld(relay, call)
  if (refused.refusal.kind === 'key_taken') return answerOfOther(relay, call)
  return { kind: 'failure', failure: failureOf(call, refused.refusal, refused.needed) }
}

function failureOf(
  { cancelled, request }: GatewayRequest,
  refusal: Exclude<HoldRefusal, { kind: 'key_taken' }>,
  needed: NanoUsd,
): Failure {
  // A key that was revoked meanwhile is the better reason.
  if (cancelled && cancelled !== 'client_closed') return failureOfCancel(cancelled)
  return refusal.kind === 'insufficient'
    ? insufficient(refusal.balance, needed)
    : limitFailure(refusal.violation, { words: wordsOf(request), tokens: 0 })
}
