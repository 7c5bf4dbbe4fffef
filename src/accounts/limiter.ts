/**
 * Limits of keys and accounts: rates, concurrency, and spend of a day and a month with open holds counted in. This is
 * the port that every limiter implements, and the rules that they share. `memory-limiter.ts` implements it.
 * `limiter-contract.ts` is the suite that every implementation passes.
 *
 * Invariants:
 * - A request satisfies both its key's limits and its account's. Each decision is made in the tick of the call.
 * - Spent and held of a day or a month never exceed its limit by what was reserved after `obstacle` found none.
 * - A request counts for the day (UTC) on which it began. A clock that is set back opens nothing.
 * - A change of limits holds from the next call on.
 *
 * Money is nano-USD, times are milliseconds.
 */
import type { Caller } from '../domain/account.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { LimitStatus, LimitViolation, SpendLimited } from './limit-status.ts'

/** What was charged before this start, in the current month. */
export type PastSpend = {
  readonly accountId: string
  readonly keyId: string
  /** Unix days. */
  readonly day: number
  readonly charged: NanoUsd
}

export type LimiterOptions = {
  /** How many requests an account may have in flight, whatever its own limit: others are to find room. */
  readonly accountMax?: number
  readonly now?: () => number
}

export type Limiter = {
  /** The clock of the limiter, in Unix milliseconds. */
  readonly now: () => number
  /** Lets a request in, or says why not. It counts from here, whatever its end. A permit must be ended by `leave`. */
  enter(caller: Caller): LimiterPermit | LimitViolation
  /**
   * Lets a request in that costs nothing, or says why not: as many in a minute as those that cost something, counted
   * apart from them, and whatever was spent.
   */
  enterFree(caller: Caller): LimitViolation | undefined
  /** The permit of work that a former life of the process let in and that goes on: its spend counts as held. */
  resume(caller: Caller, amount: NanoUsd): Pick<LimiterPermit, 'settle'>
  /** `x-ratelimit-*` for a caller that was not let in. */
  headers(caller: Caller): Record<string, string>
  /** How many requests of a key or an account are under way. */
  inFlight(id: string): number
  /** The state of the limits of the key and of the account. */
  standings(caller: Caller): readonly LimitStatus[]
}

/** The admission of one request by the limits of its key and account, from its arrival to its end. */
export type LimiterPermit = {
  readonly kind: 'admitted'
  /** What the spend limits leave; undefined without any. */
  readonly spendable: NanoUsd | undefined
  /**
   * What a request counts as that has no limit of its own: as much as such answers came to of late, of `outputMax` at
   * most, and half of what the minute has beside `known`: a guess alone must keep nobody out, nor all others.
   */
  forecast(known: number, outputMax: number): number
  /** Why `amount` of spend and `tokens` are not available; undefined: they are, as long as this tick lasts. */
  obstacle(amount: NanoUsd, tokens: number): LimitViolation | undefined
  /** Takes what `obstacle` found available. `isForecast`: whether the tokens are one in part. */
  reserve(amount: NanoUsd, tokens: number, isForecast?: boolean): void
  /** Reserves `amount` more of spend, where the limits have it. */
  extend(amount: NanoUsd): boolean
  /**
   * Turns what was reserved into what was charged and used: nothing of either when the request was not charged.
   * `output`: of a complete answer, its part of the tokens. A second call does nothing.
   */
  settle(charged: NanoUsd, tokens: number, output?: number): void
  /** A vendor has refused the request and billed nothing. */
  wasFutile(): void
  /** The request is over. Safe to call again. */
  leave(): void
  /** Adds `x-ratelimit-*` to headers: of each unit the scope with less left. Nothing without limits. */
  withRates(headers?: Record<string, string>): Record<string, string>
}

type SpendNeeded = { readonly limit: NanoUsd; readonly spent: NanoUsd; readonly amount: NanoUsd }

/** What makes room for `amount` of spend that the limit refuses. */
export function spendFreedBy({ limit, spent, amount }: SpendNeeded): SpendLimited['freedBy'] {
  if (amount > limit) return 'nothing'
  return spent + amount > limit ? 'period' : 'holds'
}
