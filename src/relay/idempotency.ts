/** Requests with an idempotency key. The first is carried out, and a repetition gets its answer. */
import type { Failure } from '../domain/failure.ts'
import type { IdempotencyKey, KeptAnswer } from '../records/idempotency.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { limit } from '../lib/primitives/limit.ts'

/** The answer to an earlier request with the same key, as it was sent then. */
export type ReplayedAnswer = {
  readonly kind: 'repeated'
  readonly answer: KeptAnswer & { readonly body: string }
  /** The id of the request that was charged. */
  readonly requestId: string
}

/** Claims the key for this call. Returns another answer if the call must not be carried out. */
export async function claimOnce(
  relay: Relay,
  call: GatewayRequest,
  wanted: IdempotencyKey,
): Promise<ReplayedAnswer | { readonly kind: 'failure'; readonly failure: Failure } | undefined> {
  const claimed = await relay.idempotency.claim(call.caller.account.id, wanted)
  switch (claimed.kind) {
    case 'claimed':
      call.life.locked(claimed.claim)
      return undefined
    case 'running':
      return { kind: 'failure', failure: runningFor(claimed.forMs) }
    case 'mismatch':
      return { kind: 'failure', failure: MISMATCH }
    case 'kept': {
      const { answer, requestId } = claimed
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
