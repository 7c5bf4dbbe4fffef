/**
 * Requests with an `Idempotency-Key`, and the port that stores them. A key stands for one execution and one charge,
 * however often its request is sent.
 */
import { DAY_MS, MIB } from '../lib/primitives/units.ts'
import { contentBytes, type MessageContent } from '../lib/http/message-content.ts'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import { NO_EXCEPTION, type BudgetShare } from '../lib/primitives/shared-budget.ts'
import type { WriteStep } from '../store/statement.ts'
import { limit } from '../lib/primitives/limit.ts'

/** An answer that is sent again. `body` is undefined if it was too large to keep. */
export type KeptAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: MessageContent | undefined
}

export type IdempotencyKey = {
  /** As the client sent it. */
  readonly key: string
  /** A digest of the request. The same key with another request is an error. */
  readonly fingerprint: Uint8Array
}

export type LockOutcome =
  | { readonly kind: 'locked'; readonly lock: IdempotencyLock }
  | { readonly kind: 'running'; readonly forMs: number }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'kept'; readonly requestId: string; readonly answer: KeptAnswer }

/** The right to carry out the request of a key, until `end`. Its steps run in the transactions of the hold. */
export type IdempotencyLock = {
  /** Steps that put the key on disk, in the transaction that makes the hold. */
  begin(requestId: string): WriteStep[]
  /**
   * Steps that keep the answer, in the transaction of the charge. The body is left out if it is larger than
   * `ANSWER_BYTES_MAX`, if the account keeps too much, or if the disk is short of space.
   */
  keep(answer: KeptAnswer): WriteStep[]
  /** Steps for a request that was not charged. The next request with the key is then a new one. */
  drop(): WriteStep[]
  /** Releases the lock. The key is then free, or its answer is on disk. A second call is safe. */
  readonly end: () => void
}

/** How long an answer is kept. */
export const ANSWER_KEPT_MS = limit(
  'idempotencyKeyMs',
  DAY_MS,
  'An Idempotency-Key is forgotten. A request that uses it again is a new request.',
)
/** An answer up to this size is kept. Text counts in UTF-8. */
export const ANSWER_BYTES_MAX = limit(
  'idempotencyAnswerBytesMax',
  MIB,
  'A longer answer is not stored, and a repetition of its request is refused.',
)

export type KeptBounds = {
  /** The bound for the answers of one account. Some answers cost next to nothing for their size. */
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
 * - At most one lock of a key is given at any time. Instances that share a store may each give one. Then one of them
 *   can write `begin`. The others are refused at that step, and lock again.
 * - A key is on disk with its hold, and its answer with its charge. A request that ends without a charge leaves no key.
 * - An answer is returned unchanged for `ANSWER_KEPT_MS`. Then the key is free.
 * - A hold that expires takes its key with it. The store does this itself, in the transaction of the expiry.
 */
export type Idempotency = {
  /** Whether an account may have kept answers, as far as is known without a look-up. Never false if it has some. */
  keepsFor(accountId: string): boolean
  /**
   * Locks a key. `locked`: the caller carries out the request, and ends the lock. `running`: another request with the
   * same fingerprint has the key, and for how long. `kept`: the stored answer. `mismatch`: the key belongs to a request
   * with another fingerprint.
   */
  lock(accountId: string, wanted: IdempotencyKey): Promise<LockOutcome>
  /** Deletes expired answers, in small steps that requests go before. */
  sweep(): Promise<void>
}

/** Collects the content of an answer while it is made, up to the size that is kept. */
export class Transcript {
  private parts: MessageContent[] | undefined = []
  private bytes = 0
  private readonly share: BudgetShare | undefined

  /** With a share, the content is in it until `release`. It is forgotten if it does not fit. */
  constructor(share?: BudgetShare) {
    this.share = share
  }

  add(part: MessageContent): void {
    if (!this.parts) return
    const bytes = contentBytes(part)
    const fits =
      this.bytes + bytes <= ANSWER_BYTES_MAX && (this.share?.take(bytes, NO_EXCEPTION) ?? 'taken') === 'taken'
    if (!fits) return this.release()
    this.bytes += bytes
    this.parts.push(part)
  }

  /** Forgets the content. A second call is safe. */
  release(): void {
    this.parts = undefined
    this.share?.give(this.bytes)
    this.bytes = 0
  }

  /** Undefined once it is too long. */
  get content(): MessageContent | undefined {
    const { parts } = this
    if (!parts || parts[0] === undefined || typeof parts[0] === 'string') return parts?.join('')
    // A stream of bytes may end with an empty text.
    return Buffer.concat(parts.filter((part) => typeof part !== 'string'))
  }
}
