/** The sums of usage on SQLite: those of hours, which settlements write, and those of whole days. */
import type { Queryable, Store } from '../store/store.ts'
import type { KeyCharges, Totals, UsageQuery, UsageRollups, UsageRow } from './usage-rollups.ts'
import { UsageDays } from './sqlite-usage-days.ts'
import { lastUsed, totalsSince, usageRows } from './sqlite-usage-report.ts'
import { chargedByDay } from './sqlite-usage.ts'

export const openSqliteUsageRollups = async (store: Store): Promise<UsageRollups> =>
  new SqliteUsageRollups(store, await UsageDays.open(store))

class SqliteUsageRollups implements UsageRollups {
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

  totalsSince(fromHour: number): Promise<Totals> {
    return totalsSince(this.store.aside, fromHour)
  }

  chargedByDay(fromHour: number): Promise<readonly KeyCharges[]> {
    return chargedByDay(this.store, fromHour)
  }

  sweep(): Promise<void> {
    return this.days.sweep()
  }

  /** Where accounts take turns: an account that asks for much keeps nobody else's pages waiting. */
  private asideOf(accountId: string | undefined): Queryable {
    return { query: (sql, bind) => this.store.aside.query(sql, bind, accountId) }
  }
}
