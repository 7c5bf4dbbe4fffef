/** Opens the storage of answers and turns that clients get again. */
import type { ConfiguredLimits } from './configured-limits.ts'
import type { CachedAnswers, CachedAnswersOptions } from './records/cached-answers.ts'
import { keptAnswerBounds, type Idempotency } from './records/idempotency.ts'
import { openSqlCachedAnswers } from './records/sql-cached-answers.ts'
import { openSqlIdempotency } from './records/sql-idempotency.ts'
import { openSqlTurns } from './responses/sql-turns.ts'
import type { Turns } from './responses/turns.ts'
import type { Store } from './store/store.ts'

export type KeptContent = {
  readonly idempotency: Idempotency
  readonly answers: CachedAnswers
  readonly turns: Turns
}

export async function openKeptContent(
  store: Store,
  { answerCacheBytesMax, storedBytesMax }: ConfiguredLimits,
  { room, ...shared }: Omit<CachedAnswersOptions, 'bytesMax'>,
): Promise<KeptContent> {
  return {
    idempotency: await openSqlIdempotency(store, { ...keptAnswerBounds, room }),
    answers: await openSqlCachedAnswers(store, { ...shared, room, bytesMax: answerCacheBytesMax }),
    turns: await openSqlTurns(store, { bytesPerAccountMax: storedBytesMax, room }),
  }
}
