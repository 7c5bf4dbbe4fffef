/**
 * The limiter in memory. The charges of the current month are read from the rollups at the start. Rates and permits
 * begin anew with the process.
 * Over 300 lines: a permit and the limiter that gave it change the same counts.
 */
import type { Caller } from '../domain/account.ts'
import type { LimitViolation, SpendLimited } from '../domain/limit-violation.ts'
import { FUTILE_PER_MINUTE, NO_LIMITS } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { Calendar } from './calendar.ts'
import {
  concurrencyViolation,
  countedIn,
  rateViolation,
  rollTo,
  spendableOf,
  spendViolation,
  limitStatusOf,
  tokensViolation,
  type LimitedSubject,
  type LimitUse,
  type SpentDay,
} from './limit-rules.ts'
import type { LimitStatus } from './limit-status.ts'
import type {
  LimitExtension,
  Limiter,
  LimiterOptions,
  LimiterPermit,
  PastSpend,
  ReservationKind,
  ResumedHold,
} from './limiter.ts'
import { rateHeaders } from './rate-headers.ts'
import type { WriteStep } from '../store/statement.ts'
import { UsualOutput } from './usual-output.ts'

/** What a key or an account has used here. */
type Subject = LimitUse & {
  free: TokenBucket
  /** Requests that vendors refused without a charge. */
  futile: TokenBucket
  usual: UsualOutput
}
/** A subject with its current limits. */
type SubjectLimits = LimitedSubject<Subject>

/** Memory decides, so no reservation takes part in a transaction. */
const NO_STEPS: readonly WriteStep[] = []
const EXTENDED: LimitExtension = { kind: 'extended' }
const LIMITED: LimitExtension = { kind: 'limited' }

/** `past` is what was charged in the current month before this start. */
export const openMemoryLimiter = (past: readonly PastSpend[], options?: LimiterOptions): MemoryLimiter =>
  new MemoryLimiter(past, options)

export class MemoryLimiter implements Limiter {
  private readonly subjects = new Map<string, Subject>()
  private readonly calendar = new Calendar()
  private readonly accountMax: number
  readonly now: () => number

  constructor(
    past: readonly PastSpend[],
    { accountMax = Number.POSITIVE_INFINITY, now = Date.now }: LimiterOptions = {},
  ) {
    this.accountMax = accountMax
    this.now = now
    const nowMs = now()
    const { day: today } = this.calendar.at(nowMs)
    for (const { accountId, keyId, day, charged } of past) {
      for (const id of [accountId, keyId]) {
        const subject = this.subject(id, nowMs)
        const amounts = day === today ? subject.today : subject.earlier
        amounts.spent += charged
      }
    }
  }

  enter(caller: Caller): MemoryPermit | LimitViolation {
    const nowMs = this.now()
    const stands = this.standsOf(caller, nowMs)
    for (const stand of stands) {
      const limited = this.barrierOf(stand, nowMs)
      if (limited) return limited
    }
    const spent = spendViolation(stands, undefined, this.calendar)
    if (spent) return spent
    for (const { limits, subject } of stands) {
      subject.inFlight++
      if (limits.requestsPerMinute !== undefined) subject.requests.take(limits.requestsPerMinute, nowMs, 1)
    }
    return new MemoryPermit(this, stands)
  }

  enterFree(caller: Caller): LimitViolation | undefined {
    const nowMs = this.now()
    const stands = this.standsOf(caller, nowMs)
    for (const { scope, limits, subject } of stands) {
      const limit = limits.requestsPerMinute
      const retryAfterMs = limit === undefined ? 0 : subject.free.waitMs(limit, nowMs, 1)
      if (limit !== undefined && retryAfterMs > 0) return { kind: 'rate', scope, unit: 'requests', limit, retryAfterMs }
    }
    for (const { limits, subject } of stands) {
      if (limits.requestsPerMinute !== undefined) subject.free.take(limits.requestsPerMinute, nowMs, 1)
    }
    return undefined
  }

  resume(caller: Caller, { amount }: ResumedHold): Pick<LimiterPermit, 'settle'> {
    const entry = new MemoryPermit(this, this.standsOf(caller, this.now()))
    entry.reserve(amount, 0)
    return entry
  }

  headers(caller: Caller): Record<string, string> {
    const nowMs = this.now()
    return rateHeaders(this.standsOf(caller, nowMs), nowMs, {})
  }

  inFlight(id: string): number {
    return this.subjects.get(id)?.inFlight ?? 0
  }

  refresh(): undefined {
    return undefined
  }

  standings(caller: Caller): readonly LimitStatus[] {
    const nowMs = this.now()
    return this.standsOf(caller, nowMs).map((stand) => limitStatusOf(stand, this.calendar.at(nowMs)))
  }

  /** The limit that refuses a request before its size is known. */
  private barrierOf(stand: SubjectLimits, nowMs: number): LimitViolation | undefined {
    const { scope, subject } = stand
    const full = concurrencyViolation(stand, scope === 'account' ? this.accountMax : undefined)
    if (full) return full
    const futileMs = scope === 'account' ? subject.futile.waitMs(FUTILE_PER_MINUTE, nowMs, 1) : 0
    if (futileMs > 0) return { kind: 'futile', scope, limit: FUTILE_PER_MINUTE, retryAfterMs: futileMs }
    return rateViolation(stand, nowMs)
  }

  /** The spend limit that refuses `needed` for the longest time. Undefined means the smallest amount. */
  spendLimited(stands: readonly SubjectLimits[], needed: NanoUsd | undefined, nowMs: number): SpendLimited | undefined {
    return spendViolation(stands, needed, this.rollAll(stands, nowMs))
  }

  rollAll(stands: readonly SubjectLimits[], nowMs: number): Calendar {
    const calendar = this.calendar.at(nowMs)
    for (const { subject } of stands) rollTo(subject, calendar)
    return calendar
  }

  private standsOf({ key, account }: Caller, nowMs: number): readonly SubjectLimits[] {
    return [
      { scope: 'key', limits: key.limits, subject: this.subject(key.id, nowMs) },
      { scope: 'account', limits: account.limits, subject: this.subject(account.id, nowMs) },
    ]
  }

  private subject(id: string, nowMs: number): Subject {
    let subject = this.subjects.get(id)
    if (!subject) {
      const { day, month } = this.calendar.at(nowMs)
      subject = {
        inFlight: 0,
        requests: new TokenBucket(),
        free: new TokenBucket(),
        futile: new TokenBucket(),
        tokens: new TokenBucket(),
        usual: new UsualOutput(),
        today: { day, month, spent: 0n, held: 0n },
        earlier: { spent: 0n, held: 0n },
      }
      this.subjects.set(id, subject)
    }
    return rollTo(subject, this.calendar.at(nowMs))
  }
}

/**
 * `days` are the days of the request's start, for key and account. `isForecast`: a part of the tokens is a forecast.
 */
type Reservation = {
  readonly amount: NanoUsd
  readonly tokens: number
  readonly isForecast: boolean
  readonly days: readonly SpentDay[]
}

/** The permit of one request under the limits of its key and account, from its arrival to its end. */
export class MemoryPermit implements LimiterPermit {
  readonly kind = 'admitted'
  private readonly limiter: MemoryLimiter
  private readonly stands: readonly SubjectLimits[]
  /** Most requests have no limits, and need neither the time nor sums. Six looks at the clock are 1 % of a request. */
  private readonly hasLimits: boolean
  private reserved: Reservation | undefined
  private isIn = true

  constructor(limiter: MemoryLimiter, stands: readonly SubjectLimits[]) {
    this.limiter = limiter
    this.stands = stands
    this.hasLimits = stands.some(({ limits }) => limits !== NO_LIMITS)
  }

  get spendable(): NanoUsd | undefined {
    if (!this.hasLimits) return undefined
    this.limiter.rollAll(this.stands, this.limiter.now())
    return spendableOf(this.stands)
  }

  forecast(known: number, outputMax: number): number {
    let [usual, room] = [0, Number.POSITIVE_INFINITY]
    for (const { limits, subject } of this.stands) {
      if (limits.tokensPerMinute === undefined) continue
      usual = Math.max(usual, Math.ceil(subject.usual.tokens))
      room = Math.min(room, Math.floor((limits.tokensPerMinute - known) / 2))
    }
    return known + Math.max(0, Math.min(usual, outputMax, room))
  }

  obstacle(amount: NanoUsd, tokens: number): LimitViolation | undefined {
    if (!this.hasLimits) return undefined
    const nowMs = this.limiter.now()
    const spend = this.limiter.spendLimited(this.stands, amount, nowMs)
    if (spend) return spend
    return tokensViolation(this.stands, tokens, nowMs)
  }

  reserve(amount: NanoUsd, tokens: number, kind: ReservationKind = 'known'): undefined {
    const nowMs = this.limiter.now()
    const days: SpentDay[] = []
    this.limiter.rollAll(this.stands, nowMs)
    for (const { limits, subject } of this.stands) {
      const { today } = subject
      today.held += amount
      days.push(today)
      if (limits.tokensPerMinute !== undefined) subject.tokens.take(limits.tokensPerMinute, nowMs, tokens)
    }
    this.reserved = { amount, tokens, isForecast: kind === 'forecast', days }
  }

  withdraw(): void {
    this.settle(0n, 0)
  }

  /** Takes the request out of its minute, because another count of it decides. */
  uncount(): void {
    for (const { limits, subject } of this.stands) {
      if (limits.requestsPerMinute !== undefined) subject.requests.give(limits.requestsPerMinute, 1)
    }
  }

  extend(amount: NanoUsd): LimitExtension {
    const { reserved } = this
    if (!reserved) return LIMITED
    if (this.hasLimits && this.limiter.spendLimited(this.stands, amount, this.limiter.now())) return LIMITED
    this.hold(reserved, amount)
    return EXTENDED
  }

  retract(amount: NanoUsd): void {
    if (this.reserved) this.hold(this.reserved, -amount)
  }

  private hold(reserved: Reservation, amount: NanoUsd): void {
    for (let i = 0; i < this.stands.length; i++) {
      const amounts = countedIn((this.stands[i] as SubjectLimits).subject, reserved.days[i] as SpentDay)
      if (amounts) amounts.held += amount
    }
    this.reserved = { ...reserved, amount: reserved.amount + amount }
  }

  settle(charged: NanoUsd, tokens: number, output?: number): readonly WriteStep[] {
    const { reserved } = this
    if (!reserved) return NO_STEPS
    this.reserved = undefined
    for (let i = 0; i < this.stands.length; i++) {
      const amounts = countedIn((this.stands[i] as SubjectLimits).subject, reserved.days[i] as SpentDay)
      if (!amounts) continue
      amounts.held -= reserved.amount
      amounts.spent += charged
    }
    if (!this.hasLimits) return NO_STEPS
    const nowMs = this.limiter.now()
    for (const { limits, subject } of this.stands) {
      if (limits.tokensPerMinute === undefined) continue
      subject.tokens.take(limits.tokensPerMinute, nowMs, tokens - reserved.tokens)
      if (reserved.isForecast && output !== undefined) subject.usual.learn(output)
    }
    return NO_STEPS
  }

  wasFutile(): void {
    for (const { scope, subject } of this.stands) {
      if (scope === 'account') subject.futile.take(FUTILE_PER_MINUTE, this.limiter.now(), 1)
    }
  }

  leave(): void {
    if (!this.isIn) return
    this.isIn = false
    for (const { subject } of this.stands) subject.inFlight--
  }

  withRates(headers: Record<string, string> = {}): Record<string, string> {
    return this.hasLimits ? rateHeaders(this.stands, this.limiter.now(), headers) : headers
  }
}
