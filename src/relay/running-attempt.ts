/** An attempt of a request: what was asked of whom. */
import type { OfferChoice } from './offer-choice.ts'
import type { AttemptResult, PreparedAttempt } from './prepared-attempt.ts'
import type { Permit } from './provider-concurrency.ts'
import type { Racer } from './racer.ts'

/** An offer that was tried. */
export type AttemptedOffer = {
  readonly choice: OfferChoice
  readonly permit: Permit
  readonly startedMs: number
  readonly dropped: readonly string[]
  /** Whether it was to answer in one piece, whatever form its client gets. */
  readonly isWhole: boolean
}

/** An attempt in flight. `racer` is its owner if a second offer may be asked beside it. */
export type RunningAttempt = {
  readonly asked: AttemptedOffer
  readonly prepared: PreparedAttempt
  readonly racer: Racer | undefined
  /** Says that its answer or failure has come. */
  readonly arrived: () => void
  readonly result: Promise<AttemptResult>
}
