import type { NanoUsd } from '../domain/money.ts'
import type { Row, SqlValue } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'

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

/** Through a table of their own: an account's charges are not in the way. */
const SELECT = `SELECT journal.kind, entry.amount, booking.balance_after, journal.ref, journal.reason, journal.created_at
  FROM booking JOIN journal ON journal.id = booking.journal_id
  JOIN entry ON entry.journal_id = journal.id AND entry.account_id = booking.account_id
  WHERE booking.account_id = ?`
const NEWEST = 'ORDER BY booking.created_at DESC, booking.journal_id DESC'

export type BookingPage = {
  readonly limit: number
  /** Only those before the one of this reference; none, where the account has none of it. */
  readonly before?: string | undefined
}

const BEFORE = `AND (booking.created_at, booking.journal_id) <
  (SELECT mark.created_at, mark.journal_id FROM journal AS named
   JOIN booking AS mark ON mark.account_id = ? AND mark.created_at = named.created_at AND mark.journal_id = named.id
   WHERE named.ref = ?)`

/** What the operator booked on an account, newest first. */
export async function bookingsOf(
  store: Queryable,
  accountId: string,
  { limit, before }: BookingPage,
): Promise<readonly Booking[]> {
  const [where, bind] = before === undefined ? ['', []] : [BEFORE, [accountId, before]]
  return (await store.query(`${SELECT} ${where} ${NEWEST} LIMIT ?`, [accountId, ...bind, limit])).map(bookingOf)
}

type BookingQuery = { readonly sql: string; readonly bind: readonly SqlValue[] }

/** Asks for those of a time, newest first: to be read by `bookingOf`. */
export const bookingsBetween = (
  accountId: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): BookingQuery => ({
  sql: `${SELECT} AND booking.created_at >= ? AND booking.created_at < ? ${NEWEST}`,
  bind: [accountId, fromMs, toMs],
})

/** Asks for the balance as it is on disk, holds included: the `posted` of the row. */
export const postedBalance = (accountId: string): BookingQuery => ({
  sql: 'SELECT posted FROM account WHERE id = ?',
  bind: [accountId],
})

export function bookingOf(row: Row): Booking {
  return {
    kind: String(row['kind']),
    amount: row['amount'] as bigint,
    balanceAfter: row['balance_after'] as bigint,
    ref: String(row['ref']),
    reason: String(row['reason'] ?? ''),
    createdAtMs: Number(row['created_at']),
  }
}

/** An open hold, as it stands in the books. */
export type OpenHold = { readonly id: string; readonly amount: NanoUsd; readonly createdAtMs: number }

/** What an account has on hold at the moment, the oldest first. */
export async function openHoldsOf(
  store: Queryable,
  accountId: string,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly OpenHold[]> {
  const sql = `SELECT id, amount, created_at FROM hold
    WHERE account_id = ? AND state = 'open' AND id > ? ORDER BY id LIMIT ?`
  return (await store.query(sql, [accountId, after, limit])).map((row) => ({
    id: row['id'] as string,
    amount: row['amount'] as bigint,
    createdAtMs: Number(row['created_at']),
  }))
}

/** How many holds an account has open at the moment. */
export async function countOpenHolds(store: Queryable, accountId: string): Promise<number> {
  const sql = "SELECT count(*) AS n FROM hold WHERE account_id = ? AND state = 'open'"
  const [row] = await store.query(sql, [accountId])
  return Number(row?.['n'] ?? 0)
}

/** What stands in the books of a request, whether or not it has a record. */
export type StoredHold = {
  readonly accountId: string
  readonly state: 'open' | 'settled' | 'released' | 'expired'
  readonly amount: NanoUsd
}

export async function findHold(store: Queryable, id: string): Promise<StoredHold | undefined> {
  const [row] = await store.query('SELECT account_id, state, amount FROM hold WHERE id = ?', [id])
  if (!row) return undefined
  return {
    accountId: row['account_id'] as string,
    state: row['state'] as StoredHold['state'],
    amount: row['amount'] as bigint,
  }
}

/** When the oldest open hold of all accounts was made. */
export async function oldestHold(store: Queryable): Promise<number | undefined> {
  const [row] = await store.query("SELECT min(created_at) AS oldest FROM hold WHERE state = 'open'")
  const oldest = row?.['oldest']
  return oldest === null || oldest === undefined ? undefined : Number(oldest)
}
