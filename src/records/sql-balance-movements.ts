/** Movements of a balance in a database: three queries of one snapshot. */
import { bookingOf, bookingsBetween, postedBalance } from '../ledger/sql-ledger-queries.ts'
import { utc } from '../lib/primitives/time-zone.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'
import type { Store } from '../store/store.ts'
import type { BalanceMovements, MovementQueries } from './balance-movements.ts'
import { usageRowOf, usageStatement } from './sql-usage-report.ts'
import type { UsageRollups } from './usage-rollups.ts'

type DayCount = Pick<UsageRollups, 'daysUntil'>

export const openSqlMovementQueries = (store: Store, rollups: DayCount): MovementQueries =>
  new SqlMovementQueries(store, rollups)

class SqlMovementQueries implements MovementQueries {
  private readonly store: Store
  private readonly rollups: DayCount

  constructor(store: Store, rollups: DayCount) {
    this.store = store
    this.rollups = rollups
  }

  async since(accountId: string, fromHour: number): Promise<BalanceMovements> {
    const toHour = Math.ceil(Date.now() / HOUR_MS) + 24
    const usage = { accountId, fromHour, toHour, stepHours: 24, shifts: utc, by: undefined } as const
    const range = { fromMs: fromHour * HOUR_MS, toMs: toHour * HOUR_MS }
    const days = usageStatement(usage, this.rollups.daysUntil)
    const queries = [postedBalance(accountId), bookingsBetween(accountId, range), days]
    const [funds = [], bookings = [], sums = []] = await this.store.aside.together(queries, accountId)
    return {
      posted: (funds[0]?.['posted'] as bigint | undefined) ?? 0n,
      bookings: bookings.map(bookingOf),
      days: sums.map((row) => usageRowOf(row, usage)),
    }
  }
}
