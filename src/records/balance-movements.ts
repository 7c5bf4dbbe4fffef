/** The movements of a balance: bookings of the ledger, charges by day, and the port that reads both at once. */
import type { NanoUsd } from '../domain/money.ts'
import type { Booking } from '../ledger/ledger-queries.ts'
import type { UsageRow } from './usage-rollups.ts'

export type BalanceMovements = {
  readonly posted: NanoUsd
  /** Newest first. */
  readonly bookings: readonly Booking[]
  /** Charges by day (UTC). */
  readonly days: readonly UsageRow[]
}

/** The whole result is from one state of the database, so the movements add up to the balance. */
export type MovementQueries = {
  /** The movements of an account's balance since an hour (Unix hours), and the resulting balance. */
  since(accountId: string, fromHour: number): Promise<BalanceMovements>
}
