/** `x-ratelimit-*`: what the limits of a minute leave, as OpenAI's API says it. */
import type { Limits } from '../domain/limits.ts'
import type { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

export const UNITS = ['requests', 'tokens'] as const
export const perMinute = { requests: 'requestsPerMinute', tokens: 'tokensPerMinute' } as const

type Unit = (typeof UNITS)[number]
/** A key or an account, as far as its rates go. */
type RateSubject = { readonly limits: Limits; readonly subject: Readonly<Record<Unit, TokenBucket>> }

const namesOf = (unit: Unit) => ({
  limit: `x-ratelimit-limit-${unit}`,
  remaining: `x-ratelimit-remaining-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
})
/** Written once: a name that is put together is looked up letter by letter. */
const names = { requests: namesOf('requests'), tokens: namesOf('tokens') }

/** A duration as OpenAI's API writes it, in the manner of Go: `12ms`, `7.5s`, `1m30s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`
  const minutes = Math.floor(ms / MINUTE_MS)
  const seconds = Math.ceil((ms - minutes * MINUTE_MS) / 100) / 10
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}

/** Adds to headers: of each unit the stand with less left. Nothing without limits. */
export function rateHeaders(
  stands: readonly RateSubject[],
  nowMs: number,
  headers: Record<string, string>,
): Record<string, string> {
  for (const unit of UNITS) {
    const { limit: limitName, remaining, reset } = names[unit]
    let least = Number.POSITIVE_INFINITY
    for (const { limits, subject } of stands) {
      const limit = limits[perMinute[unit]]
      if (limit === undefined) continue
      const level = subject[unit].level(limit, nowMs)
      if (level >= least) continue
      least = level
      headers[limitName] = String(limit)
      headers[remaining] = String(Math.max(0, Math.floor(level)))
      headers[reset] = durationText(subject[unit].fullInMs(limit, nowMs))
    }
  }
  return headers
}
