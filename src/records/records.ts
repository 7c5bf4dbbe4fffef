/** Request records: what a request cost and went through, and the port by which they are written and read. */
import type { NanoUsd } from '../domain/money.ts'
import type { Usage, UsageSource } from '../domain/usage.ts'
import type { Row, WriteStep } from '../store/statement.ts'

/** One try of an offer. */
export type AttemptNote = {
  readonly offerId: string
  readonly providerId: string
  readonly upstreamModel: string
  /**
   * `ok`; `aborted` where the call was ended before the vendor answered; `full` where it was not sent for want of room
   * there; or the kind of failure.
   */
  readonly result: string
  readonly status?: number
  readonly code?: string
  /** The vendor's word for the kind of error. */
  readonly type?: string
  /** Ours, or the vendor's without what is the request's. */
  readonly message?: string
  /** The vendor's id of the request. */
  readonly requestId?: string
  /** From the start of the request, in ms. */
  readonly startedMs: number
  readonly tookMs: number
}

/**
 * How a request ended: `completed`; `failed` before any output, free of charge; `cut` by the upstream or a limit in the
 * middle; `client_closed` when the client hung up; `barred` when its key or account lost its right meanwhile.
 */
export type Outcome = 'completed' | 'failed' | 'cut' | 'client_closed' | 'barred'

export type RequestRecord = {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly endpoint: string
  readonly model: string
  readonly stream: boolean
  readonly status: number
  readonly outcome: Outcome
  readonly errorCode: string | undefined
  readonly offerId: string | undefined
  readonly providerId: string | undefined
  readonly upstreamModel: string | undefined
  readonly usage: Usage
  /** Undefined where the hold was released: no usage is charged, so none has a source. */
  readonly usageSource: UsageSource | undefined
  readonly priceCardId: number
  readonly costCardId: number | undefined
  readonly held: NanoUsd
  readonly charged: NanoUsd
  /** What the balance lacked for the full price. */
  readonly writtenOff: NanoUsd
  readonly upstreamCost: NanoUsd
  readonly attempts: readonly AttemptNote[]
  /** The output limit that its client did not set, per choice, and why there was one. */
  readonly outputCap?: { readonly tokens: number; readonly reason: string } | undefined
  /** When its money was held. */
  readonly createdAtMs: number
  readonly firstEventMs: number | undefined
  readonly totalMs: number
}

/** Of a request whose hold was settled. */
export type SettledRecord = RequestRecord & { readonly usageSource: UsageSource }

/** A record as the schema names its columns, attempts as the JSON of `AttemptNote`s. */
export type StoredRecord = Row & { readonly attempts: string }

export type RecentPage = {
  readonly limit: number
  /** Only those older than this one. */
  readonly before?: string | undefined
}

/** Which requests a search finds: those for which all that is named holds. See `fits`. */
export type RecordFilter = {
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoints?: readonly string[] | undefined
  readonly outcome?: Outcome | undefined
  readonly status?: number | undefined
  readonly providerId?: string | undefined
  /** At least so much, in nano-USD. */
  readonly chargedMin?: bigint | undefined
  readonly totalMsMin?: number | undefined
  /** When the request came, by its id; the end is not included. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export type RecordPage = {
  readonly records: readonly StoredRecord[]
  /** Where to go on; undefined: there is nothing more. A page may be short, or empty, and still go on. */
  readonly next: string | undefined
}

export type RecordSearch = {
  readonly filter: RecordFilter
  /** Older than this id. */
  readonly cursor?: string | undefined
  readonly limit: number
}

/**
 * The port of request records.
 *
 * - A record is written in the transaction that resolves its hold, once. It never changes.
 * - A record belongs to one account. A read that names an account never returns a record of another one.
 * - Lists are newest first, by id. An id sorts by the time at which its request came.
 * - Every read of a record returns `storedForm(record)`.
 */
export type Records = {
  /** Steps that write a record and add it to the sums of its hour. They go along with what resolves its hold. */
  steps(record: RequestRecord): WriteStep[]
  /** One request of an account; undefined where it is unknown or another account's. */
  find(accountId: string, id: string): Promise<StoredRecord | undefined>
  /** One request of any account, for the operator. */
  findAnywhere(id: string): Promise<StoredRecord | undefined>
  /** The newest requests of an account. */
  recent(accountId: string, page: RecentPage): Promise<readonly StoredRecord[]>
  /**
   * Requests of an account for which `fits` holds, at most `limit`. A page may be short, or empty, and still have a
   * `next`: one call reads a bounded number of rows. Following `next` to its end gives each request once.
   */
  search(accountId: string, search: RecordSearch): Promise<RecordPage>
  /** What was charged for requests of an account, by id. Unknown ids are left out. */
  charged(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NanoUsd>>
}
