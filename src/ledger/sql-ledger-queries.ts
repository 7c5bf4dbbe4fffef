/** The queries of the ledger in a database. */
import type { StoreQuery } from '../store/reader.ts'
import type { Row } from '../store/statement.ts'
import type { Queryable, Store } from '../store/store.ts'
import type { Booking, BookingPage, LedgerQueries, OpenHold, OpenHoldPage, StoredHold } from './ledger-queries.ts'

/** Bookings have a table of their own, so the query does not scan the account's charges. */
const SELECT = `SELECT journal.kind, entry.amount, booking.balance_after, journal.ref, journal.reason, journal.created_at
  FROM booking JOIN journal ON journal.id = booking.journal_id
  JOIN entry ON entry.journal_id = journal.id AND entry.account_id = booking.account_id
  WHERE booking.account_id = ?`
const NEWEST = 'ORDER BY booking.created_at DESC, booking.journal_id DESC'

const BEFORE = `AND (booking.created_at, booking.journal_id) <
  (SELECT mark.created_at, mark.journal_id FROM journal AS named
   JOIN booking AS mark ON mark.account_id = ? AND mark.created_at = named.created_at AND mark.journal_id = named.id
   WHERE named.ref = ?)`

/** The query for the bookings of a time, newest first. `bookingOf` reads its rows. */
export const bookingsBetween = (
  accountId: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): StoreQuery => ({
  sql: `${SELECT} AND booking.created_at >= ? AND booking.created_at < ? ${NEWEST}`,
  bind: [accountId, fromMs, toMs],
})

/** The query for the balance on disk, including what is held. It is `posted` in the row. */
export const postedBalance = (accountId: string): StoreQuery => ({
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

export const openSqlLedgerQueries = (store: Store): LedgerQueries => new SqlLedgerQueries(store)

class SqlLedgerQueries implements LedgerQueries {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  async bookings(accountId: string, { limit, before }: BookingPage): Promise<readonly Booking[]> {
    const [where, bind] = before === undefined ? ['', []] : [BEFORE, [accountId, before]]
    return (await this.store.query(`${SELECT} ${where} ${NEWEST} LIMIT ?`, [accountId, ...bind, limit])).map(bookingOf)
  }

  async openHolds(accountId: string, { after = '', limit }: OpenHoldPage): Promise<readonly OpenHold[]> {
    const sql = `SELECT id, amount, created_at FROM hold
      WHERE account_id = ? AND state = 'open' AND id > ? ORDER BY id LIMIT ?`
    return (await this.asideOf(accountId).query(sql, [accountId, after, limit])).map((row) => ({
      id: row['id'] as string,
      amount: row['amount'] as bigint,
      createdAtMs: Number(row['created_at']),
    }))
  }

  async countOpenHolds(accountId: string): Promise<number> {
    const sql = "SELECT count(*) AS n FROM hold WHERE account_id = ? AND state = 'open'"
    const [row] = await this.asideOf(accountId).query(sql, [accountId])
    return Number(row?.['n'] ?? 0)
  }

  async oldestHold(): Promise<number | undefined> {
    const [row] = await this.store.aside.query("SELECT min(created_at) AS oldest FROM hold WHERE state = 'open'")
    const oldest = row?.['oldest']
    return oldest === null || oldest === undefined ? undefined : Number(oldest)
  }

  async findHold(id: string): Promise<StoredHold | undefined> {
    const [row] = await this.store.query('SELECT account_id, state, amount FROM hold WHERE id = ?', [id])
    if (!row) return undefined
    return {
      accountId: row['account_id'] as string,
      state: row['state'] as StoredHold['state'],
      amount: row['amount'] as bigint,
    }
  }

  /** Accounts take turns here, so an account with many queries does not delay the pages of others. */
  private asideOf(accountId: string): Queryable {
    return { query: (sql, bind) => this.store.aside.query(sql, bind, accountId) }
  }
}
