/** What moved a balance: bookings of the ledger and charges by the day, and the port that reads both at once. */
import type { NanoUsd } from '../domain/money.ts'
import type { Booking } from '../ledger/ledger-queries.ts'
import type { UsageRow } from './usage-rollups.ts'

export type BalanceMovements = {
  readonly posted: NanoUsd
  /** The newest first. */
  readonly bookings: readonly Booking[]
  /** Charges by the day (UTC). */
  readonly days: readonly UsageRow[]
}

/** All of an answer is of one state of the database: the movements add up to the balance. */
export type MovementQueries = {
  /** What moved the balance of an account from an hour (Unix hours) on, and the balance that came of it. */
  since(accountId: string, fromHour: number): Promise<BalanceMovements>
}
