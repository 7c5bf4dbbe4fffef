import type { NanoUsd } from '../domain/money.ts'
import type { Store } from '../store/store.ts'

/** A journal the operator made, as it stands on one account: negative amounts were taken from it. */
export type Booking = {
  readonly kind: string
  readonly amount: NanoUsd
  readonly ref: string
  readonly reason: string
  readonly createdAtMs: number
}

/** Through the index on `ref`, which only the operator's journals have: an account's charges are not in the way. */
const SELECT = `SELECT journal.kind, entry.amount, journal.ref, journal.reason, journal.created_at
  FROM journal JOIN entry ON entry.journal_id = journal.id AND entry.account_id = ?
  WHERE journal.ref IS NOT NULL ORDER BY journal.id DESC LIMIT ?`

/** What the operator booked on an account, newest first. */
export async function bookingsOf(store: Store, accountId: string, limit: number): Promise<readonly Booking[]> {
  return (await store.query(SELECT, [accountId, limit])).map((row) => ({
    kind: String(row['kind']),
    amount: row['amount'] as bigint,
    ref: String(row['ref']),
    reason: String(row['reason'] ?? ''),
    createdAtMs: Number(row['created_at']),
  }))
}
