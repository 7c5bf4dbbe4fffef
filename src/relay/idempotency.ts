/** Requests with an idempotency key: the first is carried out, a repetition gets its answer. */
import type { Failure } from '../domain/failure.ts'
import type { IdempotencyKey, KeptAnswer } from '../records/idempotency.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { limit } from '../lib/primitives/limit.ts'

/** The answer of an earlier request with the same key, as it was sent then. */
export type ReplayedAnswer = {
  readonly kind: 'repeated'
  readonly answer: KeptAnswer & { readonly body: string }
  /** The request that was charged for it. */
  readonly requestId: string
}

/** Claims the key for this call. What comes back instead is the answer to it. */
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
 * An SDK whose call timed out comes back for the answer, once or twice. It is sent away for as long as the first has
 * run already: at once it would be too early for most.
 */
const runningFor = (ms: number): Failure => ({
  kind: 'idempotency_running',
  message: 'A request with this Idempotency-Key is under way. Ask again when it is over.',
  retryAfterMs: Math.min(ms, WAIT_MS_MAX),
})
const MISMATCH: Failure = {
  kind: 'idempotency_mismatch',
  message: 'This Idempotency-Key was used for another request. Use a new key for each request.',
}
const notKept = (requestId: string): Failure => ({
  kind: 'idempotency_not_kept',
  message: `The answer to this Idempotency-Key was not kept: it was too large, or cut off. It was charged as ${requestId}.`,
  shouldRetry: false,
})
