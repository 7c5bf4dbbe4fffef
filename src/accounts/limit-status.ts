/** How keys and accounts stand with their limits, and why a request must not go on. */
import type { Limits } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'

export type LimitScope = 'key' | 'account'

/** Why a request must not go on, and when it may. */
export type LimitViolation =
  | {
      readonly kind: 'rate'
      readonly scope: LimitScope
      readonly unit: 'requests' | 'tokens'
      readonly limit: number
      /** Undefined: never, the request alone is beyond the limit. */
      readonly retryAfterMs: number | undefined
    }
  | { readonly kind: 'concurrency'; readonly scope: LimitScope; readonly limit: number }
  | { readonly kind: 'futile'; readonly scope: LimitScope; readonly limit: number; readonly retryAfterMs: number }
  | SpendLimited

export type SpendLimited = {
  readonly kind: 'spend'
  readonly scope: LimitScope
  readonly period: 'day' | 'month'
  readonly limit: NanoUsd
  readonly spent: NanoUsd
  readonly held: NanoUsd
  /** What the request needs; undefined before anything is known of it. */
  readonly needed: NanoUsd | undefined
  /**
   * What makes room: open `holds` that settle for less, the end of the `period`, or `nothing`, since the request alone
   * is beyond the limit.
   */
  readonly freedBy: 'holds' | 'period' | 'nothing'
  /** When the period ends. */
  readonly resetsInMs: number
}

/** How a key or an account stands with one of its limits. */
export type LimitStatus = {
  readonly scope: LimitScope
  readonly limits: Limits
  readonly requestsRemaining: number | undefined
  readonly tokensRemaining: number | undefined
  readonly inFlight: number
  readonly day: Spend
  readonly month: Spend
}
export type Spend = { readonly spent: NanoUsd; readonly held: NanoUsd; readonly resetsInMs: number }
