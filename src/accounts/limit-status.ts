import type { LimitScope } from '../domain/limit-violation.ts'
import type { Limits } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'

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
