/** The state of the limits of keys and accounts, and the reasons why a request is refused. */
import type { Limits } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'

export type LimitScope = 'key' | 'account'

/** Why a request is refused, and when it may be tried again. */
export type LimitViolation =
  | {
      readonly kind: 'rate'
      readonly scope: LimitScope
      readonly unit: 'requests' | 'tokens'
      readonly limit: number
      /** Undefined if it never helps to wait, because the request alone exceeds the limit. */
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
  /** The amount that the request needs, or undefined before its size is known. */
  readonly needed: NanoUsd | undefined
  /**
   * What makes room: open `holds` that settle for less, the end of the `period`, or `nothing`, because the request
   * alone exceeds the limit.
   */
  readonly freedBy: 'holds' | 'period' | 'nothing'
  /** When the period ends. */
  readonly resetsInMs: number
}

/** The state of one limit of a key or an account. */
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
