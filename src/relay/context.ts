import type { Accounts } from '../accounts/accounts.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Log } from '../lib/runtime/log.ts'
import type { SharedBudget } from '../lib/primitives/shared-budget.ts'
import type { CachedAnswers } from '../records/cached-answers.ts'
import type { Idempotency } from '../records/idempotency.ts'
import type { ReplyLimits } from '../modalities/modality.ts'
import type { Records, RequestRecord } from '../records/records.ts'
import type { Turns } from '../responses/turns.ts'
import type { Videos } from '../video/videos.ts'
import type { BackgroundResponses } from './background.ts'
import type { GatewayRequest } from './call.ts'
import type { LiveCalls } from './live-calls.ts'
import type { RemainderReader } from './remainder-reader.ts'
import type { HealthBook } from './health-book.ts'
import type { HedgeDelays } from './hedge-delays.ts'
import type { Pictures } from './pictures.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { ProviderConcurrency } from './provider-concurrency.ts'
import type { TokenCounter } from './token-counter.ts'
import { limit } from '../lib/primitives/limit.ts'
import { MIB } from '../lib/primitives/units.ts'

export type UpstreamMessages = 'kept' | 'dropped'

export type RelayLimits = ReplyLimits & {
  /** After this silence a stream gets its headers and comments, so that no proxy in between closes it. */
  readonly heartbeatMs: number
  readonly attemptsMax: number
}
/** The bounds of an upstream's answer, whole or as one event. This is what may have to be in memory at once. */
export const answerBounds = {
  replyBytesMax: limit(
    'replyBytesMax',
    64 * MIB,
    'A longer answer of an upstream counts as a failed attempt. A longer stream of bytes is cut off.',
  ),
  textReplyBytesMax: limit(
    'textReplyBytesMax',
    32 * MIB,
    'A longer answer of a text model counts as a failed attempt.',
  ),
  eventCharsMax: limit('eventCharsMax', 8 * MIB, 'A stream with a longer event is cut off.'),
}

/** Everything that the relay uses. */
export type Relay = {
  readonly accounts: Accounts
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly health: HealthBook
  readonly retries: RetryBudget
  readonly hedges: HedgeDelays
  readonly concurrency: ProviderConcurrency
  readonly live: LiveCalls
  readonly tokens: TokenCounter
  readonly pictures: Pictures
  readonly remainders: RemainderReader
  /** Ids of models whose vendors billed reasoning that they did not send, or sent a stream in one piece. */
  readonly hiddenReasoners: Set<string>
  readonly records: Records
  readonly idempotency: Idempotency
  readonly answers: CachedAnswers
  /** Memory of streams that are collected for the answer cache, shared by account. */
  readonly collected: SharedBudget
  readonly turns: Turns
  readonly backgrounds: BackgroundResponses
  readonly videos: Videos
  readonly limits: RelayLimits
  /** Whether failure messages of vendors are kept for the operator. */
  readonly upstreamMessages: UpstreamMessages
  readonly log: Log
  /** Why new work is refused at the moment, or undefined if it is not. */
  readonly notReady: () => string | undefined
  /** Called for every request that held money, once its hold is resolved. */
  readonly onRecord: (record: RequestRecord, call: Pick<GatewayRequest, 'clientAddress' | 'cacheUse' | 'trace'>) => void
}
