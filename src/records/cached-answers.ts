/** The port of the answer cache. It keeps answers for later requests of the same account with the same question. */
import { limit } from '../lib/primitives/limit.ts'
import { MIB } from '../lib/primitives/units.ts'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { Log } from '../lib/runtime/log.ts'

/** An answer as it is kept. */
export type CachedAnswer = {
  readonly text: string
  /** The offer whose vendor made it. */
  readonly offerId: string
  /** Requested fields that the vendor did not support. */
  readonly dropped: readonly string[]
}
export type FoundAnswer = CachedAnswer & { readonly createdAtMs: number }

export type AnswerToKeep = {
  readonly accountId: string
  readonly key: string
  readonly keptMs: number
  /** About how many bytes it takes. */
  readonly bytes: number
  /** Makes the answer. Resolves to undefined if it cannot serve again. */
  readonly make: () => Promise<CachedAnswer | undefined>
}

export type CachedAnswersOptions = {
  /** The secret of the gateway. The answers are sealed with a key that follows from it. */
  readonly masterKey: Uint8Array
  /** The bound of all answers together. */
  readonly bytesMax: number
  readonly room: Pick<DiskRoom, 'isShort'>
  readonly log: Log
}

/** The bound of answers that wait to be written. */
export const UNWRITTEN_BYTES_MAX = limit(
  'cachedAnswersWaitingBytesMax',
  16 * MIB,
  'Further answers are not kept in the answer cache until these are written.',
)

/**
 * - An answer is found under the account and the key under which it was kept, and by no other account, until its time
 *   is over. It is returned unchanged.
 * - What is on disk reveals neither answers nor questions without the master key, and cannot be moved to another
 *   account or key.
 * - The oldest answers give way if the bound is reached. Several instances may pass it by what they keep in some
 *   seconds.
 * - It is a cache: an answer may be missing at any time, and no request fails because of it.
 */
export type CachedAnswers = {
  /** Whether nothing is ever kept. */
  readonly isOff: boolean
  /** The bytes on disk, as far as this process knows. */
  readonly bytes: number
  /** The name of a question of an account. It does not reveal the question. */
  keyOf(accountId: string, question: string): string
  /** The answer that is kept, or undefined. Never rejects. */
  find(accountId: string, key: string): Promise<FoundAnswer | undefined>
  /** Keeps an answer some time later. The cache owns the work, and logs its errors. */
  keep(answer: AnswerToKeep): void
  /** Resolves when everything that is to be kept has been written. */
  settled(): Promise<void>
  /** Deletes answers whose time is over, in small steps that requests go before. */
  sweep(): Promise<void>
}
