/** What the store must accept of a request beside its amount, for stores that several instances share. */
import type { LimitReservation } from '../accounts/limiter.ts'
import type { HoldCondition } from '../ledger/ledger.ts'
import type { IdempotencyLock } from '../records/idempotency.ts'

const KEY_TAKEN = Promise.resolve({ kind: 'key_taken' } as const)

/** The lock of an idempotency key on disk. */
export const keyCondition = (lock: IdempotencyLock, requestId: string): HoldCondition => ({
  steps: lock.begin(requestId),
  isSure: false,
  refusal: () => KEY_TAKEN,
})

/** The limits of the key and the account. */
export const limitCondition = ({ steps, isSure, violation }: LimitReservation): HoldCondition => ({
  steps,
  isSure,
  refusal: async () => ({ kind: 'limited', violation: await violation() }),
})
