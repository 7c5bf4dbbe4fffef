/** Request records: what a request cost and went through. Also the port that writes and reads them. */
import type { NanoUsd } from '../domain/money.ts'
import type { PriceFactor } from '../domain/price.ts'
import type { Usage, UsageSource } from '../domain/usage.ts'
import type { Row, WriteStep } from '../store/statement.ts'

/** A note about one attempt. */
export type AttemptNote = {
  readonly offerId: string
  readonly providerId: string
  readonly upstreamModel: string
  /** The public model, if the request named several. */
  readonly modelId?: string
  /**
   * `ok`, `aborted` if the call ended before the vendor answered, `full` if the provider had no room, `outrun` if
   * another attempt of a hedged request was faster, or the kind of failure.
   */
  readonly result: string
  readonly status?: number
  readonly code?: string
  /** The vendor's name for the kind of error. */
  readonly type?: string
  /** Our message, or the vendor's without words from the request. */
  readonly message?: string
  /** The vendor's id of the request. */
  readonly requestId?: string
  /** The fingerprint of the provider's key, if the provider has several. */
  readonly keyId?: string
  /** In ms, from the start of the request. */
  readonly startedMs: number
  readonly tookMs: number
}

/**
 * How a request ended. `completed`. `failed`: before any output, free of charge. `cut`: by the upstream or a limit in
 * the middle. `client_closed`: the client hung up. `barred`: its key or account lost its permission meanwhile.
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
  /** Undefined if the hold was released, because no usage was charged. */
  readonly usageSource: UsageSource | undefined
  readonly priceCardId: number
  /** The factor of the account by which the prices of the card were charged. Undefined: the card's own prices. */
  readonly priceFactor?: PriceFactor | undefined
  readonly costCardId: number | undefined
  readonly held: NanoUsd
  readonly charged: NanoUsd
  /** The part of the price that the balance did not cover. */
  readonly writtenOff: NanoUsd
  readonly upstreamCost: NanoUsd
  readonly attempts: readonly AttemptNote[]
  /** An output limit that the client did not set, per choice, and its reason. */
  readonly outputCap?: { readonly tokens: number; readonly reason: string } | undefined
  /** When the money was held. */
  readonly createdAtMs: number
  readonly firstEventMs: number | undefined
  readonly totalMs: number
}

/** The record of a request whose hold was settled. */
export type SettledRecord = RequestRecord & { readonly usageSource: UsageSource }

/** A record under the column names of the schema. Its attempts are the JSON of `AttemptNote`s. */
export type StoredRecord = Row & { readonly attempts: string }

export type RecentPage = {
  readonly limit: number
  /** Only records older than this one. */
  readonly before?: string | undefined
}

/** The conditions of a search. A request must meet all that are given. See `fits`. */
export type RecordFilter = {
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoints?: readonly string[] | undefined
  readonly outcome?: Outcome | undefined
  readonly status?: number | undefined
  readonly providerId?: string | undefined
  /** At least this amount, in nano-USD. */
  readonly chargedMin?: bigint | undefined
  readonly totalMsMin?: number | undefined
  /** When the request arrived, by its id. The end is excluded. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export type RecordPage = {
  readonly records: readonly StoredRecord[]
  /** The cursor of the next page, or undefined if there is none. A page may be short or empty and still have one. */
  readonly next: string | undefined
}

export type RecordSearch = {
  readonly filter: RecordFilter
  /** Only records older than this id. */
  readonly cursor?: string | undefined
  readonly limit: number
}

/**
 * The port of request records.
 *
 * - A record is written once, in the transaction that resolves its hold. It never changes.
 * - A record belongs to one account. A read that names an account never returns a record of another account.
 * - Lists are newest first, by id. Ids sort by the time at which the request arrived.
 * - Every read of a record returns `storedForm(record)`.
 */
export type Records = {
  /** Steps that write a record and add it to its hour. They run in the transaction that resolves the hold. */
  steps(record: RequestRecord): WriteStep[]
  /** One request of an account, or undefined if it is unknown or belongs to another account. */
  find(accountId: string, id: string): Promise<StoredRecord | undefined>
  /** One request of any account, for the operator. */
  findAnywhere(id: string): Promise<StoredRecord | undefined>
  /** The newest requests of an account. */
  recent(accountId: string, page: RecentPage): Promise<readonly StoredRecord[]>
  /**
   * At most `limit` requests of an account for which `fits` holds. One call reads a bounded number of rows, so a page
   * may be short or empty and still have a `next`. All pages together have each request once.
   */
  search(accountId: string, search: RecordSearch): Promise<RecordPage>
  /** The charges of an account's requests, by id. Unknown ids are left out. */
  charged(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NanoUsd>>
}
