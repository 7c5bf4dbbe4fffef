import type { Caller } from '../domain/account.ts'
import type { LimitViolation } from '../domain/limit-violation.ts'
import { NO_LIMITS } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { WriteStep } from '../store/statement.ts'
import {
  concurrencyViolation,
  rateViolation,
  spendableOf,
  spendViolation,
  tokensViolation,
  type LimitedScope,
} from './limit-rules.ts'
import type { LimitReservation, LimitExtension, LimitedModel, LimiterPermit, ReservationKind } from './limiter.ts'
import type { MemoryPermit } from './memory-limiter.ts'
import type { LimitCounters } from './limit-counters.ts'
import { isShown, modelScopesOf, NO_SCOPES } from './model-scopes.ts'
import { reserveStep, returnStep, spentStep, type CounterDay } from './limit-counter-rows.ts'

/** What the counters have counted for the hold. */
type OpenReservation = {
  readonly at: CounterDay
  readonly tokens: number
  readonly isTask: boolean
  amount: NanoUsd
}

/** The admission of one request by this process and by the counters of its key, account and model. */
export class PostgresPermit implements LimiterPermit {
  readonly kind = 'admitted'
  private readonly counters: LimitCounters
  private readonly local: MemoryPermit
  private readonly caller: Caller
  /** The key and the account, if they had limits when the request began. */
  private readonly own: readonly LimitedScope[]
  /** The same, and the limits of the model once it is known. */
  private scopes: readonly LimitedScope[]
  private reservation: OpenReservation | undefined
  private isReserved = false
  private isUncounted = false

  constructor(
    counters: LimitCounters,
    local: MemoryPermit,
    { caller, scopes }: { readonly caller: Caller; readonly scopes: readonly LimitedScope[] },
  ) {
    this.counters = counters
    this.local = local
    this.caller = caller
    this.own = scopes
    this.scopes = scopes
  }

  get spendable(): NanoUsd | undefined {
    const here = this.local.spendable
    const there = spendableOf(this.counters.recentUses(this.scopes))
    return here === undefined || (there !== undefined && there < here) ? there : here
  }

  choose(model: LimitedModel): LimitViolation | undefined {
    const here = this.local.choose(model)
    const ofModel = modelScopesOf(this.caller, model)
    this.scopes = ofModel === NO_SCOPES ? this.own : [...this.own, ...ofModel]
    if (here || ofModel === NO_SCOPES) return here
    for (const scopeUse of this.counters.recentUses(ofModel)) {
      const violation = concurrencyViolation(scopeUse) ?? rateViolation(scopeUse, this.counters.clock.nowMs)
      if (violation) return violation
    }
    return undefined
  }

  forecast(known: number, outputMax: number): number {
    return this.local.forecast(known, outputMax)
  }

  obstacle(amount: NanoUsd, tokens: number): LimitViolation | undefined {
    const here = this.local.obstacle(amount, tokens)
    if (here || this.scopes.length === 0) return here
    const uses = this.counters.recentUses(this.scopes)
    const { clock } = this.counters
    return spendViolation(uses, amount, clock) ?? tokensViolation(uses, tokens, clock.nowMs)
  }

  reserve(amount: NanoUsd, tokens: number, kind: ReservationKind = 'known'): LimitReservation | undefined {
    this.local.reserve(amount, tokens, kind)
    this.isReserved = true
    const { counters, scopes } = this
    if (scopes.length === 0) return undefined
    for (const one of scopes) counters.make(one, this.caller)
    const ids = scopes.map(({ id }) => id)
    const at = counters.dayOf(ids)
    const isTask = kind === 'task'
    this.reservation = { at, tokens, isTask, amount }
    counters.look(scopes)
    const change = { requests: 1, tokens, inFlight: isTask ? 0 : 1, held: amount }
    return {
      counted: { counters: ids, day: at.day, tokens },
      steps: scopes.map((one) => reserveStep({ ...one, at }, change)),
      isSure: counters.isSure(scopes, amount, tokens),
      violation: () => counters.violationOf(scopes, amount, tokens),
    }
  }

  withdraw(): void {
    // A request that was decided several times is counted once.
    if (this.reservation && !this.isUncounted) this.local.uncount()
    this.isUncounted ||= this.reservation !== undefined
    this.reservation = undefined
    this.isReserved = false
    this.local.withdraw()
  }

  extend(amount: NanoUsd): LimitExtension {
    const extension = this.local.extend(amount)
    const { reservation, counters, scopes } = this
    if (extension.kind === 'limited' || !reservation) return extension
    const { at } = reservation
    reservation.amount += amount
    return {
      kind: 'extended',
      reservation: {
        counted: { counters: scopes.map(({ id }) => id), day: at.day, tokens: 0 },
        steps: scopes.map((one) => reserveStep({ ...one, at }, { held: amount })),
        isSure: counters.isSure(scopes, amount, 0),
        violation: () => counters.violationOf(scopes, amount, 0),
      },
    }
  }

  retract(amount: NanoUsd): void {
    if (this.reservation) this.reservation.amount -= amount
    this.local.retract(amount)
  }

  settle(charged: NanoUsd, tokens: number, output?: number): readonly WriteStep[] {
    if (!this.isReserved) return []
    this.isReserved = false
    this.local.settle(charged, tokens, output)
    return [...this.given(charged, tokens), ...this.spent(charged)]
  }

  /** Gives back to the counters what the hold has taken, and adds what was charged and used. */
  private given(charged: NanoUsd, tokens: number): readonly WriteStep[] {
    const { reservation, counters, scopes } = this
    if (!reservation) return []
    this.reservation = undefined
    counters.spoil(scopes)
    counters.look(scopes)
    const { at, amount, isTask } = reservation
    const change = { tokens: tokens - reservation.tokens, inFlight: isTask ? 0 : -1, held: -amount, spent: charged }
    return scopes.map((one) => returnStep({ ...one, at }, change))
  }

  /** Adds what was charged to counters that were made after the request had begun. */
  private spent(charged: NanoUsd): readonly WriteStep[] {
    if (charged === 0n) return []
    const { counters, scopes } = this
    const { key, account } = this.caller
    const late = [key.id, account.id].filter((id) => counters.knows(id) && !scopes.some((one) => one.id === id))
    return late.map((id) => spentStep({ id, limits: NO_LIMITS, at: counters.dayOf([id]) }, charged))
  }

  wasFutile(): void {
    this.local.wasFutile()
  }

  leave(): void {
    this.local.leave()
  }

  withRates(headers: Record<string, string> = {}): Record<string, string> {
    if (this.scopes.length === 0) return headers
    return this.counters.rates(this.scopes.filter(isShown), headers) ?? this.local.withRates(headers)
  }
}
