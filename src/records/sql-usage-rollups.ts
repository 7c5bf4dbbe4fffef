/** The sums of usage in a database: hourly sums, which settlements write, and daily sums. */
import type { Queryable, Store } from '../store/store.ts'
import type { KeyCharges, KeySpends, Totals, UsageQuery, UsageRollups, UsageRow } from './usage-rollups.ts'
import { UsageDays } from './sql-usage-days.ts'
import { lastUsed, spentByKey, totalsSince, usageRows } from './sql-usage-report.ts'
import { chargedByDay } from './sql-usage.ts'

export const openSqlUsageRollups = async (store: Store): Promise<UsageRollups> =>
  new SqlUsageRollups(store, await UsageDays.open(store))

class SqlUsageRollups implements UsageRollups {
  private readonly store: Store
  private readonly days: UsageDays

  constructor(store: Store, days: UsageDays) {
    this.store = store
    this.days = days
  }

  get daysUntil(): number {
    return this.days.until
  }

  rows(query: UsageQuery): Promise<readonly UsageRow[]> {
    return usageRows(this.asideOf(query.accountId), query, this.daysUntil)
  }

  lastUsed(accountId: string, fromHour: number): Promise<ReadonlyMap<string, number>> {
    return lastUsed(this.asideOf(accountId), accountId, fromHour, this.daysUntil)
  }

  spentByKey(accountId: string, since: Parameters<UsageRollups['spentByKey']>[1]): Promise<KeySpends> {
    return spentByKey(this.asideOf(accountId), accountId, { ...since, daysUntil: this.daysUntil })
  }

  totalsSince(fromHour: number): Promise<Totals> {
    return totalsSince(this.store.aside, fromHour)
  }

  chargedByDay(fromHour: number): Promise<readonly KeyCharges[]> {
    return chargedByDay(this.store, fromHour)
  }

  sweep(): Promise<void> {
    return this.days.sweep()
  }

  /** Accounts take turns here, so an account with many queries does not delay the pages of others. */
  private asideOf(accountId: string | undefined): Queryable {
    return { query: (sql, bind) => this.store.aside.query(sql, bind, accountId) }
  }
}
