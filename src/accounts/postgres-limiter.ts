/**
 * The limiter on PostgreSQL. The row of a key or an account with limits decides, in the transaction of the hold. So the
 * limits are exact over all instances. What this process counts, and the rows that it has read last, only tell early
 * that a request would be refused:
 *
 * - This process counts its own requests (memory-limiter.ts). That is never more than the rows have.
 * - A row that was just read refuses what it would refuse again, for at most 100 ms (limit-counters.ts).
 *
 * A request that fails before its hold counts only here, and so does the time of a request outside of its hold. Free
 * and futile requests count only here, too.
 */
import type { Caller } from '../domain/account.ts'
import type { LimitViolation } from '../domain/limit-violation.ts'
import type { Store } from '../store/store.ts'
import { concurrencyViolation, limitStatusOf, rateViolation, spendViolation } from './limit-rules.ts'
import type { LimitStatus } from './limit-status.ts'
import type { Limiter, LimiterOptions, LimiterPermit, PastSpend, ResumedHold } from './limiter.ts'
import { openMemoryLimiter, type MemoryLimiter } from './memory-limiter.ts'
import { LimitCounters, limitedScopesOf } from './limit-counters.ts'
import { endHeldStep } from './limit-counter-rows.ts'
import { PostgresPermit } from './postgres-permit.ts'

export async function openPostgresLimiter(
  store: Store,
  past: readonly PastSpend[],
  options: LimiterOptions = {},
): Promise<Limiter> {
  const local = openMemoryLimiter(past, options)
  const counters = new LimitCounters(store, local.now)
  await counters.read()
  return new PostgresLimiter(local, counters)
}

export class PostgresLimiter implements Limiter {
  private readonly local: MemoryLimiter
  private readonly counters: LimitCounters

  constructor(local: MemoryLimiter, counters: LimitCounters) {
    this.local = local
    this.counters = counters
  }

  get now(): () => number {
    return this.local.now
  }

  enter(caller: Caller): LimiterPermit | LimitViolation {
    const scopes = limitedScopesOf(caller)
    for (const scopeUse of this.counters.recentUses(scopes)) {
      const violation = concurrencyViolation(scopeUse) ?? rateViolation(scopeUse, this.counters.clock.nowMs)
      if (violation) return violation
    }
    const spent = spendViolation(this.counters.recentUses(scopes), undefined, this.counters.clock)
    if (spent) return spent
    const permit = this.local.enter(caller)
    return permit.kind === 'admitted' ? new PostgresPermit(this.counters, permit, { caller, scopes }) : permit
  }

  enterFree(caller: Caller): LimitViolation | undefined {
    return this.local.enterFree(caller)
  }

  resume(caller: Caller, hold: ResumedHold): Pick<LimiterPermit, 'settle'> {
    const permit = this.local.resume(caller, hold)
    return {
      settle: (charged, tokens) => {
        permit.settle(charged, tokens)
        return [endHeldStep(hold.id, charged)]
      },
    }
  }

  headers(caller: Caller): Record<string, string> {
    return this.counters.rates(limitedScopesOf(caller), {}) ?? this.local.headers(caller)
  }

  inFlight(id: string): number {
    return this.counters.inFlight(id) ?? this.local.inFlight(id)
  }

  refresh(caller: Caller): Promise<void> | undefined {
    const scopes = limitedScopesOf(caller)
    return scopes.length === 0 ? undefined : this.counters.readSoon(scopes.map(({ id }) => id))
  }

  limitStatuses(caller: Caller): readonly LimitStatus[] {
    const scopes = limitedScopesOf(caller)
    const local = this.local.limitStatuses(caller)
    return local.map((status) => {
      const own = scopes.find(({ scope }) => scope === status.scope)
      const scopeUse = own && this.counters.useOf(own)
      return scopeUse ? limitStatusOf(scopeUse, this.counters.clock) : status
    })
  }
}
