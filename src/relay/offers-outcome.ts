/** What came of the offers of a request. */
import type { Offer } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import type { AdaptedReply, BytesReply } from '../formats/core/contract.ts'
import type { CancelReason } from './call.ts'
import type { OpenStream, Progress } from './prepared-attempt.ts'

export type ServedOffer = {
  readonly offer: Offer
  /** Requested fields that this upstream does not support. */
  readonly dropped: readonly string[]
}
export type WholeServed = ServedOffer & {
  readonly kind: 'whole'
  readonly reply: AdaptedReply | BytesReply
  /** Whether it ended because no money was left. */
  readonly isCut: boolean
}
export type StreamServed = ServedOffer & { readonly kind: 'stream'; readonly open: OpenStream }
export type AllFailed = {
  readonly kind: 'failed'
  readonly failure: UpstreamFailure
  /** The offer that failed last. */
  readonly last: ServedOffer | undefined
  /** How many parts were answered, if the request was sent in parts. */
  readonly progress: Progress | undefined
  /** Whether the call was already cancelled, and its upstream stopped. A later cancellation was not the cause. */
  readonly cancelled: CancelReason | undefined
  readonly stopped: boolean
  /** Whether the answer may have been made and billed, so that nobody else may be asked for it. */
  readonly mayBeMade: boolean
}
export type OffersOutcome = WholeServed | StreamServed | AllFailed

/** Before the first attempt. */
export const NONE_TRIED: AllFailed = {
  kind: 'failed',
  failure: { kind: 'model_gone', message: 'no offer could be tried' },
  last: undefined,
  progress: undefined,
  cancelled: undefined,
  stopped: false,
  mayBeMade: false,
}
