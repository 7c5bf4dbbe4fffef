/** The headers `x-ratelimit-*`: what is left of the limits per minute, in the form of OpenAI's API. */
import type { Limits } from '../domain/limits.ts'
import type { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

export const UNITS = ['requests', 'tokens'] as const
export const perMinute = { requests: 'requestsPerMinute', tokens: 'tokensPerMinute' } as const

type Unit = (typeof UNITS)[number]
/** The rates of a key or an account. */
type RateUse = { readonly limits: Limits; readonly use: Readonly<Record<Unit, TokenBucket>> }

const namesOf = (unit: Unit) => ({
  limit: `x-ratelimit-limit-${unit}`,
  remaining: `x-ratelimit-remaining-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
})
/** The names are built once. A name built for each request would be looked up letter by letter. */
const names = { requests: namesOf('requests'), tokens: namesOf('tokens') }

/** A duration in the form of OpenAI's API, which is that of Go: `12ms`, `7.5s`, `1m30s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`
  const minutes = Math.floor(ms / MINUTE_MS)
  const seconds = Math.ceil((ms - minutes * MINUTE_MS) / 100) / 10
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}

/** Adds the headers. For each unit, the key or account with less left counts. Without limits, adds nothing. */
export function rateHeaders(
  uses: readonly RateUse[],
  nowMs: number,
  headers: Record<string, string>,
): Record<string, string> {
  for (const unit of UNITS) {
    const { limit: limitName, remaining, reset } = names[unit]
    let least = Number.POSITIVE_INFINITY
    for (const { limits, use } of uses) {
      const limit = limits[perMinute[unit]]
      if (limit === undefined) continue
      const level = use[unit].level(limit, nowMs)
      if (level >= least) continue
      least = level
      headers[limitName] = String(limit)
      headers[remaining] = String(Math.max(0, Math.floor(level)))
      headers[reset] = durationText(use[unit].fullInMs(limit, nowMs))
    }
  }
  return headers
}
