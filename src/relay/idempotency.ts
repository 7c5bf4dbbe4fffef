/** Requests with an idempotency key. The first is carried out, and a repetition gets its answer. */
import type { Failure } from '../domain/failure.ts'
import type { MessageContent } from '../lib/http/message-content.ts'
import type { IdempotencyKey, KeptAnswer, LockOutcome } from '../records/idempotency.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { limit } from '../lib/primitives/limit.ts'
import { SECOND_MS } from '../lib/primitives/units.ts'

/** The answer to an earlier request with the same key, as it was sent then. */
export type ReplayedAnswer = {
  readonly kind: 'repeated'
  readonly answer: KeptAnswer & { readonly body: MessageContent }
  /** The id of the request that was charged. */
  readonly requestId: string
}

type EarlierAnswer = ReplayedAnswer | { readonly kind: 'failure'; readonly failure: Failure }

/** Locks the key for this call. Returns another answer if the call must not be carried out. */
export async function lockOnce(
  relay: Relay,
  call: GatewayRequest,
  wanted: IdempotencyKey,
): Promise<EarlierAnswer | undefined> {
  const outcome = await relay.idempotency.lock(call.caller.account.id, wanted)
  if (outcome.kind !== 'locked') return answerTo(outcome)
  call.life.locked(outcome.lock)
  return undefined
}

/** The answer to a call whose key another instance has locked first, as the store showed with the hold. */
export async function answerOfOther(relay: Relay, { caller, once }: GatewayRequest): Promise<EarlierAnswer> {
  if (!once) throw new Error('a request without a key locks none')
  const outcome = await relay.idempotency.lock(caller.account.id, once)
  if (outcome.kind !== 'locked') return answerTo(outcome)
  // The other request has ended without a charge meanwhile. A repetition may be carried out.
  outcome.lock.end()
  return { kind: 'failure', failure: runningFor(SECOND_MS) }
}

function answerTo(outcome: Exclude<LockOutcome, { kind: 'locked' }>): EarlierAnswer {
  switch (outcome.kind) {
    case 'running':
      return { kind: 'failure', failure: runningFor(outcome.forMs) }
    case 'mismatch':
      return { kind: 'failure', failure: MISMATCH }
    case 'kept': {
      const { answer, requestId } = outcome
      const { body } = answer
      if (body === undefined) return { kind: 'failure', failure: notKept(requestId) }
      return { kind: 'repeated', answer: { ...answer, body }, requestId }
    }
  }
}

const WAIT_MS_MAX = limit('repetitionWaitMs', 30_000, 'The Retry-After of a repetition is never longer.')

/**
 * An SDK whose call timed out repeats it once or twice. It is told to wait as long as the first request has already
 * run. A shorter wait would be too short for most.
 */
const runningFor = (ms: number): Failure => ({
  kind: 'idempotency_running',
  message: 'A request with this Idempotency-Key is still running. Try again when it has ended.',
  retryAfterMs: Math.min(ms, WAIT_MS_MAX),
})
const MISMATCH: Failure = {
  kind: 'idempotency_mismatch',
  message: 'This Idempotency-Key was used for another request. Use a new key for each request.',
}
const notKept = (requestId: string): Failure => ({
  kind: 'idempotency_not_kept',
  message: `The answer to this Idempotency-Key was too large or was cut off, so it was not stored. It was charged as ${requestId}.`,
  shouldRetry: false,
})
