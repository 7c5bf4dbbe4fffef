/**
 * The limit counters that one instance knows. It creates and reads their rows, and applies the limits. The rows decide.
 * The values of the last read only allow a refusal without another read.
 */
import type { Caller } from '../domain/account.ts'
import type { LimitViolation } from '../domain/limit-violation.ts'
import { NO_LIMITS } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import { SECOND_MS } from '../lib/primitives/units.ts'
import type { Store } from '../store/store.ts'
import { Calendar, monthStartHour } from './calendar.ts'
import {
  concurrencyViolation,
  rateViolation,
  rollTo,
  spendViolation,
  tokensViolation,
  type LimitedScope,
  type LimitUse,
  type ScopeUse,
} from './limit-rules.ts'
import { createCounterStep, readCounters, type CounterDay } from './limit-counter-rows.ts'
import { rateHeaders } from './rate-headers.ts'

/** How long a row that was read may refuse requests. */
const HINT_MS = 100
/** A request surely fits if a row that was read within this time has room for this many requests of its size. */
const SURE_MS = SECOND_MS
const SURE_TIMES = 8

/** A row as it was read last. After something was given back here, it refuses nothing. */
type SeenCounter = { readonly use: LimitUse; readonly readMs: number; isSpoiled: boolean }

export class LimitCounters {
  private readonly store: Store
  private readonly now: () => number
  private readonly calendar = new Calendar()
  private readonly seen = new Map<string, SeenCounter>()
  /** Counters whose rows are being made. */
  private readonly making = new Set<string>()
  /** Counters to read with the next query. */
  private readonly wanted = new Set<string>()
  private reading: Promise<void> | undefined
  private timer: Timer | undefined
  /** The clock of the store is this much ahead. */
  private aheadMs = 0

  constructor(store: Store, now: () => number) {
    this.store = store
    this.now = now
  }

  /** The headers of rates, by the rows that were read last. Undefined if there are none. */
  rates(scopes: readonly LimitedScope[], headers: Record<string, string>): Record<string, string> | undefined {
    const uses = scopes.flatMap((one) => this.useOf(one) ?? [])
    return uses.length === 0 ? undefined : rateHeaders(uses, this.clock.nowMs, headers)
  }

  /**
   * The day on which a request counts that begins now: that of the store's clock, or a later one that a counter has
   * seen before the clock was set back.
   */
  dayOf(ids: readonly string[]): CounterDay {
    const { day, month } = this.clock
    let latest: CounterDay = { day, month }
    for (const id of ids) {
      const today = this.seen.get(id)?.use.today
      if (today && today.day > latest.day) latest = { day: today.day, month: today.month }
    }
    return latest
  }

  /** The time and the day by the clock of the store. */
  get clock(): Calendar {
    return this.calendar.at(this.now() + this.aheadMs)
  }

  knows(id: string): boolean {
    return this.seen.has(id)
  }

  /** Makes the row of a counter, unless it is known. Its transaction comes before that of a later reservation. */
  make({ id, scope, model }: LimitedScope, { account }: Caller): void {
    if (this.seen.has(id) || this.making.has(id)) return
    this.making.add(id)
    const keyId = scope === 'key' ? id : undefined
    // The limits of a model have no spend, so past charges do not matter.
    const accountId = model === undefined ? account.id : undefined
    const fromHour = monthStartHour(this.clock.nowMs)
    const made = this.store.write([createCounterStep({ id, accountId, keyId, at: this.dayOf([]), fromHour })])
    void made
      .then(() => this.readSoon([id]))
      .catch(ignore)
      .finally(() => this.making.delete(id))
  }

  /** The rows of counters that may refuse a request: those that were read a moment ago. */
  recentUses(scopes: readonly LimitedScope[], ageMs = HINT_MS): readonly ScopeUse[] {
    const readMs = performance.now() - ageMs
    return scopes.flatMap((one) => {
      const seen = this.seen.get(one.id)
      return seen && !seen.isSpoiled && seen.readMs >= readMs ? [this.useSeen(one, seen)] : []
    })
  }

  /** The requests in flight of a counter on all instances, if they were read a moment ago. */
  inFlight(id: string): number | undefined {
    const seen = this.seen.get(id)
    return seen && seen.readMs >= performance.now() - SURE_MS ? seen.use.inFlight : undefined
  }

  /** Whether all counters have room for several requests of this size, as far as is known. */
  isSure(scopes: readonly LimitedScope[], amount: NanoUsd, tokens: number): boolean {
    const uses = this.recentUses(scopes, SURE_MS)
    if (uses.length < scopes.length) return false
    const { clock } = this
    const spend = spendViolation(uses, amount * BigInt(SURE_TIMES), clock)
    if (spend || tokensViolation(uses, tokens * SURE_TIMES, clock.nowMs)) return false
    return uses.every(({ limits, use }) => {
      const { requestsPerMinute: requests, concurrentRequests = Number.POSITIVE_INFINITY } = limits
      const isRated = requests !== undefined && use.requests.level(requests, clock.nowMs) < SURE_TIMES
      return !isRated && use.inFlight + SURE_TIMES <= concurrentRequests
    })
  }

  /** Something was given back here, so a refusal may be over. */
  spoil(scopes: readonly LimitedScope[]): void {
    for (const { id } of scopes) {
      const seen = this.seen.get(id)
      if (seen) seen.isSpoiled = true
    }
  }

  /** Reads counters soon, so that what is told of them is not old. One query reads all that are wanted. */
  look(scopes: readonly LimitedScope[]): void {
    for (const { id } of scopes) this.wanted.add(id)
    if (scopes.length === 0) return
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      void this.readSoon([]).catch(ignore)
    }, HINT_MS).unref()
  }

  /** Why the rows refuse a request, by their present state. */
  async violationOf(scopes: readonly LimitedScope[], amount: NanoUsd, tokens: number): Promise<LimitViolation> {
    await this.readSoon(scopes.map(({ id }) => id)).catch(ignore)
    const uses = scopes.flatMap((one) => this.useOf(one) ?? [])
    const { clock } = this
    for (const scopeUse of uses) {
      const violation = concurrencyViolation(scopeUse) ?? rateViolation(scopeUse, clock.nowMs)
      if (violation) return violation
    }
    const lasting = spendViolation(uses, amount, clock) ?? tokensViolation(uses, tokens, clock.nowMs)
    if (lasting) return lasting
    const [first] = scopes
    if (!first) throw new Error('a request without limits was refused by them')
    return passing(first, amount, clock)
  }

  /** Reads counters, or all. */
  async read(ids?: ReadonlySet<string>): Promise<void> {
    const askedMs = performance.now()
    const { clockMs, uses } = await readCounters(this.store, ids)
    // The answer took at most this long. Half of it is the best guess of its age.
    this.aheadMs = Math.round(clockMs + (performance.now() - askedMs) / 2) - this.now()
    for (const [id, use] of uses) this.seen.set(id, { use, readMs: askedMs, isSpoiled: false })
  }

  /** Readings that are wanted in the same tick share a query. */
  readSoon(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.wanted.add(id)
    return (this.reading ??= Promise.resolve().then(() => {
      this.reading = undefined
      const wanted = new Set(this.wanted)
      this.wanted.clear()
      return this.read(wanted)
    }))
  }

  useOf(scope: LimitedScope): ScopeUse | undefined {
    const seen = this.seen.get(scope.id)
    return seen && this.useSeen(scope, seen)
  }

  private useSeen(scope: LimitedScope, { use }: SeenCounter): ScopeUse {
    return { ...scope, use: rollTo(use, this.clock) }
  }
}

/** A query that fails leaves what was known. The next one tries again. */
const ignore = (): void => undefined

/** The scopes of a caller that have limits. */
export function limitedScopesOf({ key, account }: Caller): readonly LimitedScope[] {
  const scopes: LimitedScope[] = []
  if (key.limits !== NO_LIMITS) scopes.push({ id: key.id, scope: 'key', limits: key.limits })
  if (account.limits !== NO_LIMITS) scopes.push({ id: account.id, scope: 'account', limits: account.limits })
  return scopes
}

/** What is said of a refusal whose reason has passed meanwhile: a limit that it may have been, and to try again. */
function passing({ scope, model, limits }: LimitedScope, needed: NanoUsd, clock: Calendar): LimitViolation {
  const { concurrentRequests, requestsPerMinute, tokensPerMinute, spendPerDay, spendPerMonth } = limits
  if (concurrentRequests !== undefined) return { kind: 'concurrency', scope, model, limit: concurrentRequests }
  const rate = { kind: 'rate', scope, model, retryAfterMs: SECOND_MS } as const
  if (tokensPerMinute !== undefined) return { ...rate, unit: 'tokens', limit: tokensPerMinute }
  if (requestsPerMinute !== undefined) return { ...rate, unit: 'requests', limit: requestsPerMinute }
  const [period, limit] = spendPerDay === undefined ? ['month' as const, spendPerMonth] : ['day' as const, spendPerDay]
  const resetsInMs = (period === 'day' ? clock.dayEndsMs : clock.monthEndsMs) - clock.nowMs
  const spend = { limit: limit ?? 0n, spent: 0n, held: 0n, needed, freedBy: 'holds', resetsInMs } as const
  return { kind: 'spend', scope, period, ...spend }
}
