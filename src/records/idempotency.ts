/**
 * Requests with an `Idempotency-Key`, and the port that keeps them: one execution and one charge for a key, however
 * often its request is sent.
 */
import { DAY_MS, MIB } from '../lib/primitives/units.ts'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { WriteStep } from '../store/statement.ts'
import { limit } from '../lib/primitives/limit.ts'

/** An answer as it is sent again. `body` is undefined when it was too large to keep. */
export type KeptAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export type IdempotencyKey = {
  /** As the client sent it. */
  readonly key: string
  /** A digest of what was asked: the same key for something else is a mistake. */
  readonly fingerprint: Uint8Array
}

export type LockOutcome =
  | { readonly kind: 'claimed'; readonly claim: IdempotencyLock }
  | { readonly kind: 'running'; readonly forMs: number }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'kept'; readonly requestId: string; readonly answer: KeptAnswer }

/** The right to answer for a key, until `end`. Its steps go along with those of the hold. */
export type IdempotencyLock = {
  /** Steps that put the key on disk, in the transaction that makes the hold. */
  begin(requestId: string): WriteStep[]
  /**
   * Steps that keep the answer, in the transaction of the charge. The body is left out where it is larger than
   * `ANSWER_BYTES_MAX`, where the account keeps too much, or where the disk is short.
   */
  keep(answer: KeptAnswer): WriteStep[]
  /** Steps for a request that was not charged: the next request with the key is a new one. */
  drop(): WriteStep[]
  /** Gives the lock back: the key is free, or its answer is on disk. Safe to call again. */
  readonly end: () => void
}

/** How long an answer is kept. */
export const ANSWER_KEPT_MS = limit(
  'idempotencyKeyMs',
  DAY_MS,
  'An Idempotency-Key is forgotten. A request that uses it again is a new request.',
)
/** An answer up to this size, in UTF-8, is kept. */
export const ANSWER_BYTES_MAX = limit(
  'idempotencyAnswerBytesMax',
  MIB,
  'A longer answer is not stored, and a repetition of its request is refused.',
)

export type KeptBounds = {
  /** For the answers of an account: some answers cost next to nothing for their size. */
  readonly bytesPerAccountMax: number
  readonly room: Pick<DiskRoom, 'isShort'>
}

export const keptAnswerBounds = {
  bytesPerAccountMax: limit(
    'idempotencyBytesPerAccountMax',
    64 * MIB,
    'Further answers of the account are not stored for repetitions.',
  ),
}

/**
 * The port of idempotency keys. A key belongs to one account.
 *
 * - At any time one lock at most is given for a key.
 * - A key is on disk with its hold, and its answer with its charge. A request that ends without a charge leaves no key.
 * - An answer is given again, unchanged, for `ANSWER_KEPT_MS`. Then the key is free.
 * - A hold that expires takes its key with it. This is the store's own doing, in the transaction of the expiry.
 */
export type Idempotency = {
  /** Whether an account has an answer that may be given again, as far as is known without a look-up. */
  keepsFor(accountId: string): boolean
  /**
   * Claims a key. `claimed`: the caller answers for it, until it ends the lock. `running`: another request of the same
   * fingerprint has it, for so long. `kept`: its answer. `mismatch`: the key stands for a request of another
   * fingerprint.
   */
  claim(accountId: string, wanted: IdempotencyKey): Promise<LockOutcome>
  /** Deletes answers that are no longer given, in small steps behind the requests. */
  sweep(): Promise<void>
}

/** The text of an answer while it is made, as far as it is worth keeping. */
export class Transcript {
  private parts: string[] | undefined = []
  private bytes = 0

  add(text: string): void {
    if (!this.parts) return
    this.bytes += Buffer.byteLength(text)
    if (this.bytes > ANSWER_BYTES_MAX) this.parts = undefined
    this.parts?.push(text)
  }

  /** Undefined when it became too long. */
  get text(): string | undefined {
    return this.parts?.join('')
  }
}
