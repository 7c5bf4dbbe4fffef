/**
 * What people read of the ledger: the port of its queries. They read what is on disk, and never decide anything.
 * `sqlite-ledger-queries.ts` implements it.
 */
import type { NanoUsd } from '../domain/money.ts'

/** A journal the operator made, as it stands on one account: negative amounts were taken from it. */
export type Booking = {
  readonly kind: string
  readonly amount: NanoUsd
  /** Of the account, right after it. */
  readonly balanceAfter: NanoUsd
  readonly ref: string
  readonly reason: string
  readonly createdAtMs: number
}

export type BookingPage = {
  readonly limit: number
  /** Only those before the one of this reference; none, where the account has none of it. */
  readonly before?: string | undefined
}

/** An open hold, as it stands in the books. */
export type OpenHold = { readonly id: string; readonly amount: NanoUsd; readonly createdAtMs: number }

export type OpenHoldPage = {
  /** Only those after the hold of this id. */
  readonly after?: string | undefined
  readonly limit: number
}

/** What stands in the books of a request, whether or not it has a record. */
export type StoredHold = {
  readonly accountId: string
  readonly state: 'open' | 'settled' | 'released' | 'expired'
  readonly amount: NanoUsd
}

/** A read that names an account never returns a row of another one. */
export type LedgerQueries = {
  /** The operator's bookings on an account, the newest first. */
  bookings(accountId: string, page: BookingPage): Promise<readonly Booking[]>
  /** The open holds of an account, the oldest first. */
  openHolds(accountId: string, page: OpenHoldPage): Promise<readonly OpenHold[]>
  countOpenHolds(accountId: string): Promise<number>
  /** When the oldest open hold of all accounts was made; undefined where none is open. */
  oldestHold(): Promise<number | undefined>
  /** The hold of a request of any account, also if the request has no record. */
  findHold(id: string): Promise<StoredHold | undefined>
}
