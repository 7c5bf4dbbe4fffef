/** Usage over time, by key, model, endpoint or account. It reads only the sums by hour and day. */
import { inTurns } from '../lib/runtime/end-of-tick.ts'
import { hourOfDay, type Shifts } from '../lib/primitives/time-zone.ts'
import type { StoreQuery } from '../store/reader.ts'
import { eachDatabase, joinInOrder, type SqlDatabase } from '../store/sql.ts'
import type { Row, SqlValue } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'
import {
  totalSums,
  USAGE_ROWS_MAX,
  usageSums,
  type KeySpend,
  type KeySpends,
  type Totals,
  type UsageCount,
  type UsageGroup,
  type UsageQuery,
  type UsageRow,
  type UsageSums,
} from './usage-rollups.ts'
import { firstEventColumns } from './sql-usage.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

const allSums = [...usageSums, ...firstEventColumns]
const groupColumns = { key: 'key_id', model: 'model', endpoint: 'endpoint', account: 'account_id' } as const

type Stretch = { readonly table: 'usage_hour' | 'usage_day'; readonly from: number; readonly to: number }

/**
 * The parts of a report. It uses whole days if days are requested and have been summed up, and hours for the rest.
 * `daysUntil` is in Unix days (see `UsageDays`).
 */
function stretchesOf({ fromHour, toHour, stepHours, shifts }: UsageQuery, daysUntil: number): readonly Stretch[] {
  const hours = (from: number, to: number): readonly Stretch[] => (from < to ? [{ table: 'usage_hour', from, to }] : [])
  const from = Math.ceil(fromHour / 24)
  const to = Math.min(Math.floor(toHour / 24), daysUntil)
  const isUtc = shifts.every((shift) => shift.hours === 0)
  if (stepHours === 1 || !isUtc || from >= to) return hours(fromHour, toHour)
  return [...hours(fromHour, from * 24), { table: 'usage_day', from, to }, ...hours(to * 24, toHour)]
}

/** The statement and its values. They are separate so that a test can examine the query plan. */
export function usageStatement(query: UsageQuery, daysUntil: number): StoreQuery {
  const parts = stretchesOf(query, daysUntil).map((stretch) => stretchStatement(query, stretch))
  const sums = allSums.map((sum) => `CAST(sum(${sum}) AS bigint) AS ${sum}`).join(', ')
  const sql = eachDatabase(
    (
      database,
    ) => `SELECT step, part, ${sums} FROM (${parts.map((part) => part.sql(database)).join(' UNION ALL ')}) AS parts
    GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ${USAGE_ROWS_MAX + 1}`,
  )
  return { sql, bind: parts.flatMap(({ bind }) => bind) }
}

/** The groups into which the sums of all accounts can be divided. */
const ofAll: Partial<Record<UsageGroup, true>> = { model: true, endpoint: true }

type StretchStatement = { readonly sql: (database: SqlDatabase) => string; readonly bind: readonly SqlValue[] }

function stretchStatement(query: UsageQuery, { table, from, to }: Stretch): StretchStatement {
  const { accountId, by, keyId, model, endpoint, stepHours, shifts } = query
  const unit = table === 'usage_hour' ? 'hour' : 'day'
  // The daily sums of all accounts are stored under an empty account id.
  const isOfAll = accountId === undefined && unit === 'day' && keyId === undefined && (by ?? 'model') in ofAll
  const filters: [string, SqlValue | undefined][] = [
    ['u.account_id = ?', isOfAll ? '' : accountId],
    [`u.${unit} >= ?`, from],
    [`u.${unit} < ?`, to],
    ['u.key_id = ?', keyId],
    ['u.model = ?', model],
    ['u.endpoint = ?', endpoint],
  ]
  const stated = filters.filter((each): each is [string, SqlValue] => each[1] !== undefined)
  // For all accounts, the query goes account by account, because the hours of one account are adjacent.
  const source = (database: SqlDatabase): string =>
    accountId === undefined && !isOfAll
      ? `account a ${joinInOrder(database)} ${table} u ON u.account_id = a.id`
      : `${table} u`
  const step =
    table === 'usage_day' ? 'u.day' : stepHours === 1 ? 'u.hour' : `(u.hour + ${shiftExpression(shifts)}) / 24`
  const part = by === undefined ? 'NULL' : `u.${groupColumns[by]}`
  const sums = allSums.map((sum) => `sum(u.${sum}) AS ${sum}`).join(', ')
  // Grouping by the stored hour follows the order of the table, so little has to be sorted.
  const sql = (
    database: SqlDatabase,
  ): string => `SELECT ${step} AS step, ${part} AS part, ${sums} FROM ${source(database)}
    WHERE ${stated.map(([condition]) => condition).join(' AND ')} GROUP BY u.${unit}, 2`
  return { sql, bind: stated.map(([, value]) => value) }
}

/** The offset of the clock at an hour, as SQL. It has only numbers of our own, and never text from outside. */
const shiftExpression = ([first, ...later]: Shifts): string =>
  later.reduce(
    (before, { fromHour, hours }) => `CASE WHEN u.hour < ${fromHour} THEN ${before} ELSE ${hours} END`,
    String(first.hours),
  )

/** Usage by hour or day, in the order of time and group. Days before `daysUntil` (Unix days) are summed up. */
export async function usageRows(store: Queryable, query: UsageQuery, daysUntil: number): Promise<readonly UsageRow[]> {
  const { fromHour, toHour } = query
  if (fromHour >= toHour) return []
  const { sql, bind } = usageStatement(query, daysUntil)
  const found = await store.query(sql, bind)
  const rows: UsageRow[] = []
  for await (const part of inTurns(found, ROWS_AT_ONCE)) rows.push(...part.map((row) => usageRowOf(row, query)))
  return rows
}

/** Rows that are converted without a pause. They take some milliseconds, in which no stream proceeds. */
const ROWS_AT_ONCE = 500

/** A row of `usageStatement`. */
export const usageRowOf = (row: Row, { stepHours, shifts }: UsageQuery): UsageRow => ({
  startMs: (stepHours === 1 ? Number(row['step']) : hourOfDay(Number(row['step']), shifts)) * HOUR_MS,
  group: (row['part'] as string | null) ?? undefined,
  ...readSums(row),
})

function readSums(row: Row): UsageCount {
  const sums = Object.fromEntries(usageSums.map((sum) => [sum, row[sum] as bigint])) as UsageSums
  return { sums, firsts: firstEventColumns.map((name) => Number(row[name])) }
}

/**
 * When each key of an account was last used, to the hour (Unix hours), since the day of `fromHour`. Days that have been
 * summed up (`daysUntil`, Unix days) show which of their hours to read. That is a tenth of the rows.
 */
export async function lastUsed(
  store: Queryable,
  accountId: string,
  fromHour: number,
  daysUntil: number,
): Promise<ReadonlyMap<string, number>> {
  const day = Math.floor(fromHour / 24)
  const rows = await store.query(lastUsedStatement, [accountId, day, Math.max(day, daysUntil)])
  return new Map(rows.map((row) => [row['key_id'] as string, Number(row['hour'])]))
}

const lastUsedStatement = `WITH
  recent AS (SELECT key_id, max(hour) AS hour FROM usage_hour
    WHERE account_id = ?1 AND hour >= CAST(?3 AS bigint) * 24 GROUP BY key_id),
  older AS (SELECT key_id, max(day) AS day FROM usage_day
    WHERE account_id = ?1 AND day >= ?2 AND day < CAST(?3 AS bigint) GROUP BY key_id)
  SELECT key_id, hour FROM recent
  UNION ALL SELECT key_id, (SELECT max(hour) FROM usage_hour u
    WHERE u.account_id = ?1 AND u.hour >= older.day * 24 AND u.hour < (older.day + 1) * 24 AND u.key_id = older.key_id)
  FROM older WHERE key_id NOT IN (SELECT key_id FROM recent)`

/** Days that are summed up come from `usage_day`, the others from their hours. See `UsageRollups`. */
export async function spentByKey(
  store: Queryable,
  accountId: string,
  { day, monthDay, daysUntil }: { readonly day: number; readonly monthDay: number; readonly daysUntil: number },
): Promise<KeySpends> {
  const spends = new Map<string, KeySpend>()
  for (const row of await store.query(spentStatement, [accountId, monthDay, Math.max(monthDay, daysUntil), day])) {
    const id = row['key_id'] as string
    const known = spends.get(id) ?? { day: 0n, month: 0n }
    spends.set(id, { day: known.day + (row['day'] as bigint), month: known.month + (row['month'] as bigint) })
  }
  return spends
}

const spentStatement = `SELECT key_id, CAST(sum(CASE WHEN hour >= CAST(?4 AS bigint) * 24 THEN charged ELSE 0 END) AS bigint) AS day,
    CAST(sum(charged) AS bigint) AS month
  FROM usage_hour WHERE account_id = ?1 AND hour >= CAST(?3 AS bigint) * 24 GROUP BY key_id
  UNION ALL SELECT key_id, CAST(sum(CASE WHEN day >= CAST(?4 AS bigint) THEN charged ELSE 0 END) AS bigint),
    CAST(sum(charged) AS bigint)
  FROM usage_day WHERE account_id = ?1 AND day >= ?2 AND day < CAST(?3 AS bigint) GROUP BY key_id`

/** The totals of all accounts since an hour (Unix hours), for the operator's overview. */
export async function totalsSince(store: Queryable, fromHour: number): Promise<Totals> {
  const sums = totalSums.map((sum) => `CAST(coalesce(sum(u.${sum}), 0) AS bigint) AS ${sum}`).join(', ')
  const sql = eachDatabase(
    (database) =>
      `SELECT ${sums} FROM account a ${joinInOrder(database)} usage_hour u ON u.account_id = a.id AND u.hour >= ?`,
  )
  const [row] = await store.query(sql, [fromHour])
  return row as Totals
}
