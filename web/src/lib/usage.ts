/** Usage over time as the API sends it. Steps without usage are left out. */
import type { Usage, UsageSums } from './api-types.gen.ts'
import type { Range } from './ranges.ts'
import type { Zone } from './time.ts'
import { HOUR_MS } from './units.ts'

export type Step = Usage['step']

export const inputTokens = (sums: UsageSums): number =>
  sums.input_fresh_tokens + sums.input_cached_tokens + sums.cache_write_tokens + sums.input_image_tokens
export const outputTokens = (sums: UsageSums): number =>
  sums.output_text_tokens + sums.output_reasoning_tokens + sums.output_image_tokens

const days: Readonly<Record<Range, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }

/** The start of every step of a range, and its end. Hours include the running one. Days are those of the zone. */
export type Steps = { readonly times: readonly number[]; readonly toMs: number }

export function stepsOf(range: Range, step: Step, zone: Zone, nowMs: number = Date.now()): Steps {
  const count = days[range]
  if (step === 'day') {
    const starts = Array.from({ length: count + 1 }, (_, i) => dayStart(zone, nowMs, i + 1 - count))
    return { times: starts.slice(0, -1), toMs: starts.at(-1) ?? nowMs }
  }
  const toMs = (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS
  return { times: Array.from({ length: count * 24 }, (_, i) => toMs - (count * 24 - i) * HOUR_MS), toMs }
}

/** A number of days before today. Usage is stored by hours of UTC, so a day begins with its first whole hour. */
function dayStart(zone: Zone, nowMs: number, days: number): number {
  const now = new Date(nowMs)
  const midnight =
    zone === 'utc'
      ? Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days)
      : new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).getTime()
  return Math.ceil(midnight / HOUR_MS) * HOUR_MS
}

/** The times of a step for a search of requests: from its start to the start of the next step. */
export const stepAt = ({ times, toMs }: Steps, at: number): { readonly from: string; readonly to: string } => ({
  from: new Date(times[at] ?? toMs).toISOString(),
  to: new Date(times[at + 1] ?? toMs).toISOString(),
})
