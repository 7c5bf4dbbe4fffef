/**
 * The port of the ledger's queries for people. They read what is on disk, and never decide anything.
 * `sql-ledger-queries.ts` implements it.
 */
import type { NanoUsd } from '../domain/money.ts'

/** A journal of the operator, from the view of one account. Negative amounts were taken from it. */
export type Booking = {
  readonly kind: string
  readonly amount: NanoUsd
  /** The balance of the account right after the booking. */
  readonly balanceAfter: NanoUsd
  readonly ref: string
  readonly reason: string
  readonly createdAtMs: number
}

export type BookingPage = {
  readonly limit: number
  /** Only bookings before the one of this reference. None if the account has no such booking. */
  readonly before?: string | undefined
}

/** An open hold, as it is in the books. */
export type OpenHold = { readonly id: string; readonly amount: NanoUsd; readonly createdAtMs: number }

export type OpenHoldPage = {
  /** Only holds after the hold of this id. */
  readonly after?: string | undefined
  readonly limit: number
}

/** The hold of a request, whether or not the request has a record. */
export type StoredHold = {
  readonly accountId: string
  readonly state: 'open' | 'settled' | 'released' | 'expired'
  readonly amount: NanoUsd
}

/** A read that names an account never returns a row of another account. */
export type LedgerQueries = {
  /** The operator's bookings on an account, newest first. */
  bookings(accountId: string, page: BookingPage): Promise<readonly Booking[]>
  /** The open holds of an account, oldest first. */
  openHolds(accountId: string, page: OpenHoldPage): Promise<readonly OpenHold[]>
  countOpenHolds(accountId: string): Promise<number>
  /** When the oldest open hold of all accounts was made, or undefined if none is open. */
  oldestHold(): Promise<number | undefined>
  /** The hold of a request of any account, even if the request has no record. */
  findHold(id: string): Promise<StoredHold | undefined>
}
