/** The usage of requests by hour and day, and the port that reads the sums. */
import type { NanoUsd } from '../domain/money.ts'
import type { Shifts } from '../lib/primitives/time-zone.ts'
import { limit } from '../lib/primitives/limit.ts'

/** Upper ends of the counts of first events, in ms. The last count has no upper end. */
export const firstEventBoundsMs = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800] as const
const firstCounts = [...firstEventBoundsMs, Infinity]

/** The sums of a row, in the table's order. */
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
  /** Undefined means all accounts. */
  readonly accountId: string | undefined
  /** Unix hours. The last hour is excluded. */
  readonly fromHour: number
  readonly toHour: number
  readonly stepHours: 1 | 24
  /** The offsets of the clock, which decide where days begin. */
  readonly shifts: Shifts
  readonly by: UsageGroup | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
}

export type UsageSums = Readonly<Record<UsageSum, bigint>>

export type UsageRow = {
  /** The start of the hour or day. */
  readonly startMs: number
  /** The id of the key or account, or the name of the model or endpoint. */
  readonly group: string | undefined
  readonly sums: UsageSums
  /** The number of first events within each bound, and above the last one. */
  readonly firsts: readonly number[]
}

/** A report with more rows is not a chart, and too much for one answer. */
export const USAGE_ROWS_MAX = limit('usageRowsMax', 10_000, 'A report or export with more rows is refused.')

/** The values that can be added. */
export type UsageCount = Pick<UsageRow, 'sums' | 'firsts'>

/** Adds up rows. */
export function addUp(rows: readonly UsageCount[]): UsageCount {
  const sums = Object.fromEntries(
    usageSums.map((sum) => [sum, rows.reduce((total, row) => total + row.sums[sum], 0n)]),
  ) as UsageSums
  return { sums, firsts: firstCounts.map((_, i) => rows.reduce((total, row) => total + (row.firsts[i] ?? 0), 0)) }
}

/** A percentile of first events in ms, as exact as their bounds, or undefined if there were none. */
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

/** The sums in the operator's overview. */
export const totalSums = ['requests', 'failed', 'cut', 'estimated', 'charged', 'written_off', 'upstream_cost'] as const
export type Totals = Pick<UsageSums, (typeof totalSums)[number]>

/** The charges of a key on a day (Unix days). */
export type KeyCharges = {
  readonly accountId: string
  readonly keyId: string
  readonly day: number
  readonly charged: NanoUsd
}

/** The charges of one key since the start of a day and of its month. */
export type KeySpend = { readonly day: NanoUsd; readonly month: NanoUsd }
/** By the id of the key. A key without charges is not in it. */
export type KeySpends = ReadonlyMap<string, KeySpend>

/**
 * The port of the sums of usage. `Records.steps` adds each request to the hour in which its money was held. Charts and
 * limits therefore never scan requests.
 *
 * - The sums of an hour equal those of its requests, exactly, whatever else was written at the same time.
 * - A report is the same before and after its days are summed up.
 * - Reports of all accounts have only accounts that the store knows.
 */
export type UsageRollups = {
  /** Days before this one have been summed up. Unix days. */
  readonly daysUntil: number
  /** Usage by hour or day, in the order of time and group. At most `USAGE_ROWS_MAX` rows and one more. */
  rows(query: UsageQuery): Promise<readonly UsageRow[]>
  /** When each key of an account was last used (Unix hours), since the day of `fromHour`. */
  lastUsed(accountId: string, fromHour: number): Promise<ReadonlyMap<string, number>>
  /** The charges of each key of an account since the start of a day and of its month (Unix days). */
  spentByKey(accountId: string, since: { readonly day: number; readonly monthDay: number }): Promise<KeySpends>
  /** The totals of all accounts since an hour (Unix hours). */
  totalsSince(fromHour: number): Promise<Totals>
  /** The charges of each key by day, since an hour (Unix hours). */
  chargedByDay(fromHour: number): Promise<readonly KeyCharges[]>
  /** Sums up the days to which no open hold can add. A call while it runs is safe. */
  sweep(): Promise<void>
}
