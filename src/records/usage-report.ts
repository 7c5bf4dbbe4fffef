/** Usage over time, by key, model, endpoint or account: read from the sums by the hour alone. */
import type { Row, SqlValue } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { firstEventBoundsMs, usageSums, type UsageSum } from './usage.ts'

export const usageGroups = ['key', 'model', 'endpoint', 'account'] as const
export type UsageGroup = (typeof usageGroups)[number]

export type UsageQuery = {
  /** Undefined: of all accounts. */
  readonly accountId: string | undefined
  /** Unix hours, the last not included. */
  readonly fromHour: number
  readonly toHour: number
  readonly stepHours: 1 | 24
  /** Where days begin: hours east of UTC. */
  readonly offsetHours: number
  readonly by: UsageGroup | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
}

export type Sums = Readonly<Record<UsageSum, bigint>>

export type UsageRow = {
  /** When the hour or day begins. */
  readonly startMs: number
  /** Id of the key or account, or the name of the model or endpoint. */
  readonly group: string | undefined
  readonly sums: Sums
  /** How many first events came within each bound, and above the last. */
  readonly firsts: readonly number[]
}

const HOUR_MS = 3_600_000
const firsts = [...firstEventBoundsMs, Infinity].map((_, i) => `first_${i}`)
const SUMS = [...usageSums, ...firsts].map((sum) => `sum(${sum}) AS ${sum}`).join(', ')
const groupColumns = { key: 'key_id', model: 'model', endpoint: 'endpoint', account: 'account_id' } as const

/** More rows than this are no chart, and too much for one answer. */
export const USAGE_ROWS_MAX = 20_000

/** The statement and its values, apart so that its plan can be looked at. */
export function usageStatement(query: UsageQuery): { readonly sql: string; readonly bind: SqlValue[] } {
  const { accountId, fromHour, toHour, stepHours, offsetHours, by, keyId, model, endpoint } = query
  const filters: [string, SqlValue | undefined][] = [
    ['u.account_id = ?', accountId],
    ['u.hour >= ?', fromHour],
    ['u.hour < ?', toHour],
    ['u.key_id = ?', keyId],
    ['u.model = ?', model],
    ['u.endpoint = ?', endpoint],
  ]
  const stated = filters.filter((each): each is [string, SqlValue] => each[1] !== undefined)
  // Of all accounts: the hours of each lie together, and are found account by account.
  const source = accountId === undefined ? 'account a CROSS JOIN usage_hour u ON u.account_id = a.id' : 'usage_hour u'
  const group = by === undefined ? 'NULL' : `u.${groupColumns[by]}`
  const sql = `SELECT (u.hour + ${offsetHours}) / ${stepHours} AS step, ${group} AS part, ${SUMS}
    FROM ${source} WHERE ${stated.map(([condition]) => condition).join(' AND ')}
    GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ${USAGE_ROWS_MAX + 1}`
  return { sql, bind: stated.map(([, value]) => value) }
}

export async function usageOf(store: Store, query: UsageQuery): Promise<readonly UsageRow[]> {
  const { sql, bind } = usageStatement(query)
  const { stepHours, offsetHours } = query
  return (await store.query(sql, bind)).map((row) => ({
    startMs: (Number(row['step']) * stepHours - offsetHours) * HOUR_MS,
    group: (row['part'] as string | null) ?? undefined,
    ...readSums(row),
  }))
}

function readSums(row: Row): Pick<UsageRow, 'sums' | 'firsts'> {
  const sums = Object.fromEntries(usageSums.map((sum) => [sum, row[sum] as bigint])) as Sums
  return { sums, firsts: firsts.map((name) => Number(row[name])) }
}

/** The sum of rows. */
export function totalOf(rows: readonly UsageRow[]): Pick<UsageRow, 'sums' | 'firsts'> {
  const sums = Object.fromEntries(
    usageSums.map((sum) => [sum, rows.reduce((total, row) => total + row.sums[sum], 0n)]),
  ) as Sums
  return { sums, firsts: firsts.map((_, i) => rows.reduce((total, row) => total + (row.firsts[i] ?? 0), 0)) }
}

/** A percentile of first events in ms, to within its bounds; undefined where there were none. */
export function percentile(counts: readonly number[], part: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let left = total * part
  for (const [i, count] of counts.entries()) {
    if (left > count || count === 0) {
      left -= count
      continue
    }
    const from = firstEventBoundsMs[i - 1] ?? 0
    const to = firstEventBoundsMs[i] ?? from * 2
    return Math.round(from + (to - from) * (left / count))
  }
  return firstEventBoundsMs.at(-1)
}

/** When each key of an account was last used, to the hour (Unix hours), from an hour on. */
export async function lastUsed(
  store: Store,
  accountId: string,
  fromHour: number,
): Promise<ReadonlyMap<string, number>> {
  const sql = 'SELECT key_id, max(hour) AS hour FROM usage_hour WHERE account_id = ? AND hour >= ? GROUP BY key_id'
  const rows = await store.query(sql, [accountId, fromHour])
  return new Map(rows.map((row) => [row['key_id'] as string, Number(row['hour'])]))
}
