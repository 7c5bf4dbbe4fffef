/**
 * The daily sums. They are made from hourly sums, apart from requests, once no open hold can add to them. A request
 * counts in the hour of its hold.
 */
import { eachDatabase, joinInOrder, type SqlDatabase } from '../store/sql.ts'
import { statement, type Row, type SqlValue } from '../store/statement.ts'
import { mustWrite, type Queryable, type Store } from '../store/store.ts'
import { usageSums } from './usage-rollups.ts'
import { firstEventColumns } from './sql-usage.ts'
import { DAY_MS, MINUTE_MS } from '../lib/primitives/units.ts'

/** Within this time a hold is on disk, and a difference of clocks is covered. */
const SLACK_MS = 600_000
/** How old the number of days may be that another instance has summed up. */
const READ_MS = MINUTE_MS
/** Rows per transaction. Requests go before these transactions, and never wait long for one. */
const ROWS_AT_ONCE = 100

const rowKeys = ['account_id', 'day', 'key_id', 'model', 'endpoint']
const summed = [...usageSums, ...firstEventColumns]
const columns = [...rowKeys, ...summed]
const insert = statement(
  `INSERT INTO usage_day (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
   ON CONFLICT (${rowKeys.join(', ')}) DO UPDATE SET ${summed.map((sum) => `${sum} = excluded.${sum}`).join(', ')}`,
)
const setUntil = statement('UPDATE usage_days_until SET day = ?')

const DAY = 'CAST(?1 AS bigint)'
const sums = summed.map((sum) => `CAST(sum(u.${sum}) AS bigint) AS ${sum}`).join(', ')
const hours = (database: SqlDatabase): string =>
  `account a ${joinInOrder(database)} usage_hour u
   ON u.account_id = a.id AND u.hour >= ${DAY} * 24 AND u.hour < (${DAY} + 1) * 24`
const ofAccounts = eachDatabase(
  (database) => `SELECT u.account_id, ${DAY} AS day, u.key_id, u.model, u.endpoint, ${sums}
    FROM ${hours(database)} GROUP BY u.account_id, u.key_id, u.model, u.endpoint`,
)
/** Rows without account and key are the sums of all accounts, for the operator's charts. */
const ofAll = eachDatabase(
  (database) => `SELECT '' AS account_id, ${DAY} AS day, '' AS key_id, u.model, u.endpoint, ${sums}
    FROM ${hours(database)} GROUP BY u.model, u.endpoint`,
)

export class UsageDays {
  private readonly store: Store
  private day: number
  private readMs = 0
  private running: Promise<void> | undefined

  private constructor(store: Store, day: number) {
    this.store = store
    this.day = day
  }

  static async open(store: Store): Promise<UsageDays> {
    const days = new UsageDays(store, 0)
    await days.read()
    return days
  }

  /**
   * Days before this one have been summed up. Unix days. Another instance may have summed up more since they were last
   * read. A report then sums up their hours.
   */
  get until(): number {
    if (this.store.changes.isShared && !this.running && performance.now() - this.readMs > READ_MS) {
      // A report does not fail because the database does not answer this.
      this.read().catch(() => undefined)
    }
    return this.day
  }

  /** Sums up the days that are over. A call while it runs is safe. */
  sweep(nowMs = Date.now()): Promise<void> {
    this.running ??= this.fold(nowMs).finally(() => (this.running = undefined))
    return this.running
  }

  private async read(): Promise<void> {
    this.readMs = performance.now()
    const [row] = await this.store.query('SELECT day FROM usage_days_until')
    this.day = Number(row?.['day'] ?? 0)
  }

  private async fold(nowMs: number): Promise<void> {
    if (this.store.changes.isShared) await this.read()
    const [open] = await this.store.query("SELECT min(created_at) AS oldest FROM hold WHERE state = 'open'")
    const oldest = open?.['oldest']
    const settledMs = Math.min(nowMs, typeof oldest === 'bigint' ? Number(oldest) : nowMs) - SLACK_MS
    const end = Math.floor(settledMs / DAY_MS)
    // If the clock was set back, new requests may belong to a day that seemed over.
    const today = Math.floor(nowMs / DAY_MS)
    if (this.day > today) await this.set(today)
    if (this.day >= end) return
    await this.store.apart(async (reader) => {
      while (this.day < end) await this.foldDay(reader, this.day)
    })
  }

  private async set(day: number): Promise<void> {
    await mustWrite(this.store, [{ run: setUntil, bind: [day], changes: 1 }])
    this.day = day
  }

  private async foldDay(reader: Queryable, day: number): Promise<void> {
    const rows = [...(await reader.query(ofAccounts, [day])), ...(await reader.query(ofAll, [day]))]
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const steps = rows.slice(at, at + ROWS_AT_ONCE).map((row) => ({ run: insert, bind: valuesOf(row) }))
      await this.store.write(steps, 'bulk')
    }
    await this.set(day + 1)
  }
}

const valuesOf = (row: Row): SqlValue[] => columns.map((column) => row[column] as SqlValue)
