/**
 * The rules of limits, as functions of what a key or an account has used, of its limits, and of a time. The memory
 * limiter applies them to what it counts. The limiter on PostgreSQL applies them to the rows of the store.
 */
import type { LimitScope, LimitViolation, SpendLimited } from '../domain/limit-violation.ts'
import type { Limits } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { TokenBucket } from '../lib/primitives/token-bucket.ts'
import type { Calendar } from './calendar.ts'
import type { LimitStatus } from './limit-status.ts'
import { spendFreedBy } from './limiter.ts'
import { perMinute, UNITS } from './rate-headers.ts'

export type SpentAmounts = { spent: NanoUsd; held: NanoUsd }
/** The spend of a UTC day, and the month of that day. */
export type SpentDay = SpentAmounts & { readonly day: number; readonly month: number }

/** What a key or an account has used. */
export type LimitUse = {
  inFlight: number
  readonly requests: TokenBucket
  readonly tokens: TokenBucket
  today: SpentDay
  /** The spend of the month before today. */
  earlier: SpentAmounts
}

/** A key, an account or a model with its current limits. */
export type LimitedScope = {
  readonly id: string
  readonly scope: LimitScope
  /** The model that the limits are for. Undefined: they are for all models. */
  readonly model?: string | undefined
  readonly limits: Limits
}
/** A key or an account with its limits and with what it has used of them. */
export type ScopeUse<Use extends LimitUse = LimitUse> = LimitedScope & { readonly use: Use }

const PERIODS = ['day', 'month'] as const
const spendPer = { day: 'spendPerDay', month: 'spendPerMonth' } as const
type Period = (typeof PERIODS)[number]

/**
 * Moves a use to the day and the month of the calendar. Requests that began earlier keep a reference to their day. A
 * clock that is set back frees nothing, because what was spent today stays spent.
 */
export function rollTo<Use extends LimitUse>(use: Use, { day, month }: Calendar): Use {
  const { today } = use
  if (day <= today.day) return use
  use.earlier = month > today.month ? { spent: 0n, held: 0n } : spendOf(use, 'month')
  use.today = { day, month, spent: 0n, held: 0n }
  return use
}

/** The spend of the current day or month. */
const spendOf = ({ today, earlier }: LimitUse, period: Period): Readonly<SpentAmounts> =>
  period === 'day' ? today : { spent: earlier.spent + today.spent, held: earlier.held + today.held }

/** The amounts in which a day's requests count, or undefined once the month of the day is over. */
export function countedIn({ today, earlier }: LimitUse, day: SpentDay): SpentAmounts | undefined {
  if (day === today) return today
  return day.month === today.month ? earlier : undefined
}

/** Whether a further request in flight is beyond the limit. `most`: the bound that also holds without a limit. */
export function concurrencyViolation(
  { scope, model, limits, use }: ScopeUse,
  most = Number.POSITIVE_INFINITY,
): LimitViolation | undefined {
  const { concurrentRequests = Number.POSITIVE_INFINITY } = limits
  const limit = Math.min(concurrentRequests, most)
  return use.inFlight >= limit ? { kind: 'concurrency', scope, model, limit } : undefined
}

/** Whether the minute has no request left, or not a single token. */
export function rateViolation({ scope, model, limits, use }: ScopeUse, nowMs: number): LimitViolation | undefined {
  for (const unit of UNITS) {
    const limit = limits[perMinute[unit]]
    if (limit === undefined) continue
    const retryAfterMs = use[unit].waitMs(limit, nowMs, 1)
    if (retryAfterMs > 0) return { kind: 'rate', scope, model, unit, limit, retryAfterMs }
  }
  return undefined
}

/** Whether a minute has too few tokens for a request. */
export function tokensViolation(uses: readonly ScopeUse[], tokens: number, nowMs: number): LimitViolation | undefined {
  for (const { limits, scope, model, use } of uses) {
    const limit = limits.tokensPerMinute
    if (limit === undefined) continue
    const waitMs = use.tokens.waitMs(limit, nowMs, tokens)
    if (waitMs === 0) continue
    const retryAfterMs = Number.isFinite(waitMs) ? waitMs : undefined
    return { kind: 'rate', scope, model, unit: 'tokens', limit, retryAfterMs }
  }
  return undefined
}

/**
 * The spend limit that refuses `needed` for the longest time. Undefined means the smallest amount. The uses are of the
 * day of the calendar.
 */
export function spendViolation(
  uses: readonly ScopeUse[],
  needed: NanoUsd | undefined,
  { nowMs, dayEndsMs, monthEndsMs }: Calendar,
): SpendLimited | undefined {
  let longest: SpendLimited | undefined
  for (const { scope, limits, use } of uses) {
    for (const period of PERIODS) {
      const limit = limits[spendPer[period]]
      if (limit === undefined) continue
      const { spent, held } = spendOf(use, period)
      const amount = needed ?? 1n
      if (spent + held + amount <= limit) continue
      const freedBy = spendFreedBy({ limit, spent, amount })
      const found = { kind: 'spend', scope, period, limit, spent, held, needed, freedBy } as const
      const limited = { ...found, resetsInMs: (period === 'day' ? dayEndsMs : monthEndsMs) - nowMs }
      if (!longest || patience(limited) > patience(longest)) longest = limited
    }
  }
  return longest
}

/** How long a spend limit refuses a request, for comparison. */
const patience = ({ freedBy, resetsInMs }: SpendLimited): number =>
  freedBy === 'holds' ? 0 : freedBy === 'period' ? resetsInMs : Number.POSITIVE_INFINITY

/** The spend that the limits still allow, or undefined without spend limits. The uses are of the current day. */
export function spendableOf(uses: readonly ScopeUse[]): NanoUsd | undefined {
  let least: NanoUsd | undefined
  for (const { limits, use } of uses) {
    for (const period of PERIODS) {
      const limit = limits[spendPer[period]]
      if (limit === undefined) continue
      const { spent, held } = spendOf(use, period)
      const left = limit - spent - held
      if (least === undefined || left < least) least = left
    }
  }
  return least !== undefined && least < 0n ? 0n : least
}

/** The state of the limits of a key or an account. */
export function limitStatusOf(
  { scope, limits, use }: ScopeUse,
  { nowMs, dayEndsMs, monthEndsMs }: Calendar,
): LimitStatus {
  const left = (bucket: TokenBucket, limit: number | undefined): number | undefined =>
    limit === undefined ? undefined : Math.max(0, Math.floor(bucket.level(limit, nowMs)))
  return {
    scope,
    limits,
    requestsRemaining: left(use.requests, limits.requestsPerMinute),
    tokensRemaining: left(use.tokens, limits.tokensPerMinute),
    inFlight: use.inFlight,
    day: { spent: use.today.spent, held: use.today.held, resetsInMs: dayEndsMs - nowMs },
    month: { ...spendOf(use, 'month'), resetsInMs: monthEndsMs - nowMs },
  }
}
