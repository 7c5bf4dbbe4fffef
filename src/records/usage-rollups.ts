/** What requests came to, by hour and day, and the port by which the sums are read. */
import type { NanoUsd } from '../domain/money.ts'
import type { Shifts } from '../lib/primitives/time-zone.ts'
import { limit } from '../lib/primitives/limit.ts'

/** Upper ends of the counts of first events, in ms; the last count has none. */
export const firstEventBoundsMs = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800] as const
const firstCounts = [...firstEventBoundsMs, Infinity]

/** The sums of a row, in the order of the table. */
export const usageSums = [
  'requests',
  'failed',
  'cut',
  'estimated',
  'input_fresh',
  'input_cached',
  'cache_write',
  'output_text',
  'output_reasoning',
  'input_image',
  'output_image',
  'images',
  'seconds',
  'charged',
  'written_off',
  'upstream_cost',
] as const
export type UsageSum = (typeof usageSums)[number]

export const usageGroups = ['key', 'model', 'endpoint', 'account'] as const
export type UsageGroup = (typeof usageGroups)[number]

export type UsageQuery = {
  /** Undefined: of all accounts. */
  readonly accountId: string | undefined
  /** Unix hours, the last not included. */
  readonly fromHour: number
  readonly toHour: number
  readonly stepHours: 1 | 24
  /** Where days begin. */
  readonly shifts: Shifts
  readonly by: UsageGroup | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
}

export type UsageSums = Readonly<Record<UsageSum, bigint>>

export type UsageRow = {
  /** When the hour or day begins. */
  readonly startMs: number
  /** Id of the key or account, or the name of the model or endpoint. */
  readonly group: string | undefined
  readonly sums: UsageSums
  /** How many first events came within each bound, and above the last. */
  readonly firsts: readonly number[]
}

/** More rows than this are no chart, and too much for one answer. */
export const USAGE_ROWS_MAX = limit('usageRowsMax', 10_000, 'A report or export with more rows is refused.')

/** What can be added up. */
export type UsageCount = Pick<UsageRow, 'sums' | 'firsts'>

/** The sum of rows. */
export function addUp(rows: readonly UsageCount[]): UsageCount {
  const sums = Object.fromEntries(
    usageSums.map((sum) => [sum, rows.reduce((total, row) => total + row.sums[sum], 0n)]),
  ) as UsageSums
  return { sums, firsts: firstCounts.map((_, i) => rows.reduce((total, row) => total + (row.firsts[i] ?? 0), 0)) }
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

/** The sums that an operator looks at. */
export const totalSums = ['requests', 'failed', 'cut', 'estimated', 'charged', 'written_off', 'upstream_cost'] as const
export type Totals = Pick<UsageSums, (typeof totalSums)[number]>

/** What a key was charged on a day (Unix days). */
export type KeyCharges = {
  readonly accountId: string
  readonly keyId: string
  readonly day: number
  readonly charged: NanoUsd
}

/**
 * The port of the sums of usage. `Records.steps` adds each request to the hour in which its money was held, so that
 * neither charts nor limits scan the requests.
 *
 * - The sums of an hour are those of its requests, exactly, whatever was written at the same time.
 * - A report is the same whether its days have been summed up or not.
 * - Reports of all accounts have only accounts that the store knows.
 */
export type UsageRollups = {
  /** Unix days: those before this one are summed up. */
  readonly daysUntil: number
  /** Usage by hour or day, in the order of time and group; at most `USAGE_ROWS_MAX` rows and one more. */
  rows(query: UsageQuery): Promise<readonly UsageRow[]>
  /** When each key of an account was last used (Unix hours), on the days from the day of `fromHour` on. */
  lastUsed(accountId: string, fromHour: number): Promise<ReadonlyMap<string, number>>
  /** The totals of all accounts from an hour on (Unix hours). */
  totalsSince(fromHour: number): Promise<Totals>
  /** What each key was charged by the day, from an hour on (Unix hours). */
  chargedByDay(fromHour: number): Promise<readonly KeyCharges[]>
  /** Sums up the days to which no open hold can add any more. Safe to call again while it runs. */
  sweep(): Promise<void>
}
