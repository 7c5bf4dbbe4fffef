/** Sums of requests over time, as the API gives them: steps without any are left out. */
import type { Range } from './ranges.ts'

export type Sums = {
  readonly requests: number
  readonly failed: number
  readonly cut: number
  readonly estimated: number
  readonly input_fresh_tokens: number
  readonly input_cached_tokens: number
  readonly cache_write_tokens: number
  readonly output_text_tokens: number
  readonly output_reasoning_tokens: number
  readonly input_image_tokens: number
  readonly output_image_tokens: number
  readonly images: number
  readonly video_seconds: number
  readonly charged_nano_usd: string
  readonly first_event_p50_ms: number | null
  readonly first_event_p95_ms: number | null
  readonly upstream_cost_nano_usd?: string
}
export type Step = 'hour' | 'day'

export const inputTokens = (sums: Sums): number =>
  sums.input_fresh_tokens + sums.input_cached_tokens + sums.cache_write_tokens + sums.input_image_tokens
export const outputTokens = (sums: Sums): number =>
  sums.output_text_tokens + sums.output_reasoning_tokens + sums.output_image_tokens

const HOUR_MS = 3_600_000
const hours: Readonly<Record<Range, number>> = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24, '90d': 90 * 24 }

/** Whole hours up to and with the running one; by the day, whole days of the zone. */
export function boundsOf(range: Range, step: Step, offsetHours = 0, nowMs: number = Date.now()) {
  const unitMs = step === 'hour' ? HOUR_MS : 24 * HOUR_MS
  const shiftMs = step === 'hour' ? 0 : offsetHours * HOUR_MS
  const toMs = Math.ceil((nowMs + shiftMs + 1) / unitMs) * unitMs - shiftMs
  return { fromMs: toMs - hours[range] * HOUR_MS, toMs, unitMs }
}

/** The start of every step of a range. */
export function timesOf({ fromMs, toMs, unitMs }: ReturnType<typeof boundsOf>): readonly number[] {
  return Array.from({ length: Math.round((toMs - fromMs) / unitMs) }, (_, i) => fromMs + i * unitMs)
}

/** Hours by which the browser's clock is ahead of UTC; days begin with whole hours only. */
export const offsetHours = (zone: 'utc' | 'local'): number =>
  zone === 'utc' ? 0 : Math.round(-new Date().getTimezoneOffset() / 60)
