/** The totals of usage rows by group. */
import type { UsageRow, UsageSums } from '../../lib/api-types.gen.ts'
import { shortId } from '../../lib/ids.ts'
import { nano } from '../../lib/money.ts'
import { inputTokens, outputTokens } from '../../lib/usage.ts'

export const measures = ['cost', 'requests', 'input', 'output', 'errors'] as const
export type Measure = (typeof measures)[number]

/** The total of one group. */
export type GroupTotal = {
  readonly group: string
  readonly name: string
  readonly requests: number
  readonly failed: number
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly images: number
  readonly charged: bigint
}

export function totalsOf(rows: readonly UsageRow[]): readonly GroupTotal[] {
  const totals = new Map<string, GroupTotal>()
  for (const row of rows) {
    const group = row.group ?? ''
    const before = totals.get(group)
    totals.set(group, {
      group,
      name: row.name ?? group,
      requests: (before?.requests ?? 0) + row.requests,
      failed: (before?.failed ?? 0) + row.failed,
      input: (before?.input ?? 0) + inputTokens(row),
      cached: (before?.cached ?? 0) + row.input_cached_tokens,
      output: (before?.output ?? 0) + outputTokens(row),
      images: (before?.images ?? 0) + row.images,
      charged: (before?.charged ?? 0n) + nano(row.charged_nano_usd),
    })
  }
  return toldApart([...totals.values()]).toSorted((a, b) => descending(a.charged, b.charged) || b.requests - a.requests)
}

const descending = (a: bigint, b: bigint): number => (a === b ? 0 : a < b ? 1 : -1)

/** Two keys can have the same name. Their ids are then added. */
function toldApart(totals: readonly GroupTotal[]): readonly GroupTotal[] {
  const named = Map.groupBy(totals, ({ name }) => name)
  return totals.map((total) =>
    (named.get(total.name)?.length ?? 0) > 1 ? { ...total, name: `${total.name} ${shortId(total.group)}` } : total,
  )
}

/** The groups with the highest values of a measure, the highest first. Groups with zero are left out. */
export function biggestOf(rows: readonly UsageRow[], measure: Measure): readonly GroupTotal[] {
  const sums = new Map<string, bigint>()
  for (const row of rows) {
    const group = row.group ?? ''
    sums.set(group, (sums.get(group) ?? 0n) + measured(row, measure))
  }
  const sumOf = ({ group }: GroupTotal): bigint => sums.get(group) ?? 0n
  return totalsOf(rows)
    .filter((total) => sumOf(total) > 0n)
    .toSorted((a, b) => descending(sumOf(a), sumOf(b)))
}

/** A whole number. For money it is nano-dollars. */
export function measured(sums: UsageSums, measure: Measure): bigint {
  switch (measure) {
    case 'cost':
      return nano(sums.charged_nano_usd)
    case 'requests':
      return BigInt(sums.requests)
    case 'input':
      return BigInt(inputTokens(sums))
    case 'output':
      return BigInt(outputTokens(sums))
    case 'errors':
      return BigInt(sums.failed + sums.cut)
  }
}
