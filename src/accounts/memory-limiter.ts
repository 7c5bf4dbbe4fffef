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
  type ScopeUse,
  type LimitUse,
  type SpentDay,
} from './limit-rules.ts'
import type { LimitStatus } from './limit-status.ts'
import { isShown, modelScopesOf, NO_SCOPES } from './model-scopes.ts'
import type {
  LimitExtension,
  LimitedModel,
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
type LocalUse = LimitUse & {
  free: TokenBucket
  /** Requests that vendors refused without a charge. */
  futile: TokenBucket
  usual: UsualOutput
}

/** Memory decides, so no reservation takes part in a transaction. */
const NO_STEPS: readonly WriteStep[] = []
const EXTENDED: LimitExtension = { kind: 'extended' }
const LIMITED: LimitExtension = { kind: 'limited' }

/** `past` is what was charged in the current month before this start. */
export const openMemoryLimiter = (past: readonly PastSpend[], options?: LimiterOptions): MemoryLimiter =>
  new MemoryLimiter(past, options)

export class MemoryLimiter implements Limiter {
  private readonly uses = new Map<string, LocalUse>()
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
        const use = this.use(id, nowMs)
        const amounts = day === today ? use.today : use.earlier
        amounts.spent += charged
      }
    }
  }

  enter(caller: Caller): MemoryPermit | LimitViolation {
    const nowMs = this.now()
    const uses = this.usesOf(caller, nowMs)
    for (const scopeUse of uses) {
      const limited = this.barrierOf(scopeUse, nowMs)
      if (limited) return limited
    }
    const spent = spendViolation(uses, undefined, this.calendar)
    if (spent) return spent
    for (const { limits, use } of uses) {
      use.inFlight++
      if (limits.requestsPerMinute !== undefined) use.requests.take(limits.requestsPerMinute, nowMs, 1)
    }
    return new MemoryPermit(this, caller, uses)
  }

  enterFree(caller: Caller): LimitViolation | undefined {
    const nowMs = this.now()
    const uses = this.usesOf(caller, nowMs)
    for (const { scope, limits, use } of uses) {
      const limit = limits.requestsPerMinute
      const retryAfterMs = limit === undefined ? 0 : use.free.waitMs(limit, nowMs, 1)
      if (limit !== undefined && retryAfterMs > 0) return { kind: 'rate', scope, unit: 'requests', limit, retryAfterMs }
    }
    for (const { limits, use } of uses) {
      if (limits.requestsPerMinute !== undefined) use.free.take(limits.requestsPerMinute, nowMs, 1)
    }
    return undefined
  }

  resume(caller: Caller, { amount }: ResumedHold): Pick<LimiterPermit, 'settle'> {
    const entry = new MemoryPermit(this, caller, this.usesOf(caller, this.now()))
    entry.reserve(amount, 0)
    return entry
  }

  headers(caller: Caller): Record<string, string> {
    const nowMs = this.now()
    return rateHeaders(this.usesOf(caller, nowMs), nowMs, {})
  }

  inFlight(id: string): number {
    return this.uses.get(id)?.inFlight ?? 0
  }

  refresh(): undefined {
    return undefined
  }

  limitStatuses(caller: Caller): readonly LimitStatus[] {
    const nowMs = this.now()
    return this.usesOf(caller, nowMs).map((scopeUse) => limitStatusOf(scopeUse, this.calendar.at(nowMs)))
  }

  /** The limit that refuses a request before its size is known. */
  private barrierOf(scopeUse: ScopeUse<LocalUse>, nowMs: number): LimitViolation | undefined {
    const { scope, use } = scopeUse
    const full = concurrencyViolation(scopeUse, scope === 'account' ? this.accountMax : undefined)
    if (full) return full
    const futileMs = scope === 'account' ? use.futile.waitMs(FUTILE_PER_MINUTE, nowMs, 1) : 0
    if (futileMs > 0) return { kind: 'futile', scope, limit: FUTILE_PER_MINUTE, retryAfterMs: futileMs }
    return rateViolation(scopeUse, nowMs)
  }

  /** The spend limit that refuses `needed` for the longest time. Undefined means the smallest amount. */
  spendLimited(
    uses: readonly ScopeUse<LocalUse>[],
    needed: NanoUsd | undefined,
    nowMs: number,
  ): SpendLimited | undefined {
    return spendViolation(uses, needed, this.rollAll(uses, nowMs))
  }

  rollAll(uses: readonly ScopeUse<LocalUse>[], nowMs: number): Calendar {
    const calendar = this.calendar.at(nowMs)
    for (const { use } of uses) rollTo(use, calendar)
    return calendar
  }

  private usesOf({ key, account }: Caller, nowMs: number): readonly ScopeUse<LocalUse>[] {
    return [
      { id: key.id, scope: 'key', limits: key.limits, use: this.use(key.id, nowMs) },
      { id: account.id, scope: 'account', limits: account.limits, use: this.use(account.id, nowMs) },
    ]
  }

  use(id: string, nowMs: number): LocalUse {
    let use = this.uses.get(id)
    if (!use) {
      const { day, month } = this.calendar.at(nowMs)
      use = {
        inFlight: 0,
        requests: new TokenBucket(),
        free: new TokenBucket(),
        futile: new TokenBucket(),
        tokens: new TokenBucket(),
        usual: new UsualOutput(),
        today: { day, month, spent: 0n, held: 0n },
        earlier: { spent: 0n, held: 0n },
      }
      this.uses.set(id, use)
    }
    return rollTo(use, this.calendar.at(nowMs))
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

type ScopeUses = readonly ScopeUse<LocalUse>[]
const NO_USES: ScopeUses = Object.freeze([])

/** The permit of one request under the limits of its key, account and model, from its arrival to its end. */
export class MemoryPermit implements LimiterPermit {
  readonly kind = 'admitted'
  private readonly limiter: MemoryLimiter
  private readonly caller: Caller
  private readonly uses: ScopeUses
  /** The limits of its model. They have no spend. */
  private modelUses = NO_USES
  /** Those of them that count the request. */
  private countedUses = NO_USES
  /** Most requests have no limits, and need neither the time nor sums. Six looks at the clock are 1 % of a request. */
  private readonly hasLimits: boolean
  private reserved: Reservation | undefined
  private isIn = true

  constructor(limiter: MemoryLimiter, caller: Caller, uses: ScopeUses) {
    this.limiter = limiter
    this.caller = caller
    this.uses = uses
    this.hasLimits = uses.some(({ limits }) => limits !== NO_LIMITS)
  }

  get spendable(): NanoUsd | undefined {
    if (!this.hasLimits) return undefined
    this.limiter.rollAll(this.uses, this.limiter.now())
    return spendableOf(this.uses)
  }

  choose(model: LimitedModel): LimitViolation | undefined {
    const scopes = modelScopesOf(this.caller, model)
    if (scopes === NO_SCOPES) {
      this.modelUses = NO_USES
      return undefined
    }
    const nowMs = this.limiter.now()
    this.modelUses = scopes.map((scope) => ({ ...scope, use: this.limiter.use(scope.id, nowMs) }))
    for (const scopeUse of this.modelUses) {
      const limited = concurrencyViolation(scopeUse) ?? rateViolation(scopeUse, nowMs)
      if (limited) return limited
    }
    return undefined
  }

  /** The limits of key and account, and those of the model. */
  private get all(): ScopeUses {
    return this.modelUses.length === 0 ? this.uses : [...this.uses, ...this.modelUses]
  }

  forecast(known: number, outputMax: number): number {
    let [usual, room] = [0, Number.POSITIVE_INFINITY]
    for (const { limits, use } of this.all) {
      if (limits.tokensPerMinute === undefined) continue
      usual = Math.max(usual, Math.ceil(use.usual.tokens))
      room = Math.min(room, Math.floor((limits.tokensPerMinute - known) / 2))
    }
    return known + Math.max(0, Math.min(usual, outputMax, room))
  }

  obstacle(amount: NanoUsd, tokens: number): LimitViolation | undefined {
    if (!this.isLimited) return undefined
    const nowMs = this.limiter.now()
    const spend = this.limiter.spendLimited(this.uses, amount, nowMs)
    if (spend) return spend
    return tokensViolation(this.all, tokens, nowMs)
  }

  reserve(amount: NanoUsd, tokens: number, kind: ReservationKind = 'known'): undefined {
    const nowMs = this.limiter.now()
    const days: SpentDay[] = []
    this.limiter.rollAll(this.uses, nowMs)
    for (const { limits, use } of this.uses) {
      const { today } = use
      today.held += amount
      days.push(today)
      if (limits.tokensPerMinute !== undefined) use.tokens.take(limits.tokensPerMinute, nowMs, tokens)
    }
    this.countedUses = this.modelUses
    for (const { limits, use } of this.countedUses) {
      use.inFlight++
      if (limits.requestsPerMinute !== undefined) use.requests.take(limits.requestsPerMinute, nowMs, 1)
      if (limits.tokensPerMinute !== undefined) use.tokens.take(limits.tokensPerMinute, nowMs, tokens)
    }
    this.reserved = { amount, tokens, isForecast: kind === 'forecast', days }
  }

  withdraw(): void {
    if (!this.reserved) return
    this.settle(0n, 0)
    giveRequests(this.countedUses)
    this.leaveModel()
  }

  private leaveModel(): void {
    for (const { use } of this.countedUses) use.inFlight--
    this.countedUses = NO_USES
  }

  /** Takes the request out of its minute, because another count of it decides. */
  uncount(): void {
    giveRequests(this.uses)
  }

  extend(amount: NanoUsd): LimitExtension {
    const { reserved } = this
    if (!reserved) return LIMITED
    if (this.hasLimits && this.limiter.spendLimited(this.uses, amount, this.limiter.now())) return LIMITED
    this.hold(reserved, amount)
    return EXTENDED
  }

  retract(amount: NanoUsd): void {
    if (this.reserved) this.hold(this.reserved, -amount)
  }

  private hold(reserved: Reservation, amount: NanoUsd): void {
    for (let i = 0; i < this.uses.length; i++) {
      const amounts = countedIn((this.uses[i] as ScopeUse<LocalUse>).use, reserved.days[i] as SpentDay)
      if (amounts) amounts.held += amount
    }
    this.reserved = { ...reserved, amount: reserved.amount + amount }
  }

  settle(charged: NanoUsd, tokens: number, output?: number): readonly WriteStep[] {
    const { reserved } = this
    if (!reserved) return NO_STEPS
    this.reserved = undefined
    for (let i = 0; i < this.uses.length; i++) {
      const amounts = countedIn((this.uses[i] as ScopeUse<LocalUse>).use, reserved.days[i] as SpentDay)
      if (!amounts) continue
      amounts.held -= reserved.amount
      amounts.spent += charged
    }
    if (!this.isLimited) return NO_STEPS
    const nowMs = this.limiter.now()
    for (const { limits, use } of this.all) {
      if (limits.tokensPerMinute === undefined) continue
      use.tokens.take(limits.tokensPerMinute, nowMs, tokens - reserved.tokens)
      if (reserved.isForecast && output !== undefined) use.usual.learn(output)
    }
    return NO_STEPS
  }

  wasFutile(): void {
    for (const { scope, use } of this.uses) {
      if (scope === 'account') use.futile.take(FUTILE_PER_MINUTE, this.limiter.now(), 1)
    }
  }

  leave(): void {
    if (!this.isIn) return
    this.isIn = false
    for (const { use } of this.uses) use.inFlight--
    this.leaveModel()
  }

  withRates(headers: Record<string, string> = {}): Record<string, string> {
    return this.isLimited ? rateHeaders(this.all.filter(isShown), this.limiter.now(), headers) : headers
  }

  private get isLimited(): boolean {
    return this.hasLimits || this.modelUses !== NO_USES
  }
}

function giveRequests(uses: ScopeUses): void {
  for (const { limits, use } of uses) {
    if (limits.requestsPerMinute !== undefined) use.requests.give(limits.requestsPerMinute, 1)
  }
}
