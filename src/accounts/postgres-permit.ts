import type { Caller } from '../domain/account.ts'
import type { LimitViolation } from '../domain/limit-violation.ts'
import { NO_LIMITS } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { WriteStep } from '../store/statement.ts'
import { spendableOf, spendViolation, tokensViolation, type LimitedScope } from './limit-rules.ts'
import type { LimitClaim, LimitExtension, LimiterPermit, ReservationKind } from './limiter.ts'
import type { MemoryPermit } from './memory-limiter.ts'
import type { MeterBook } from './meter-book.ts'
import { claimStep, giveStep, spentStep, type MeterDay } from './meter-rows.ts'

/** What the meters have counted for the hold. */
type OpenClaim = {
  readonly at: MeterDay
  readonly tokens: number
  readonly isTask: boolean
  amount: NanoUsd
}

/** The admission of one request by this process and by the meters of its key and account. */
export class PostgresPermit implements LimiterPermit {
  readonly kind = 'admitted'
  private readonly book: MeterBook
  private readonly local: MemoryPermit
  private readonly caller: Caller
  /** What had limits when the request began. */
  private readonly scopes: readonly LimitedScope[]
  private claimed: OpenClaim | undefined
  private isReserved = false

  constructor(
    book: MeterBook,
    local: MemoryPermit,
    { caller, scopes }: { readonly caller: Caller; readonly scopes: readonly LimitedScope[] },
  ) {
    this.book = book
    this.local = local
    this.caller = caller
    this.scopes = scopes
  }

  get spendable(): NanoUsd | undefined {
    const here = this.local.spendable
    const there = spendableOf(this.book.recentUses(this.scopes))
    return here === undefined || (there !== undefined && there < here) ? there : here
  }

  forecast(known: number, outputMax: number): number {
    return this.local.forecast(known, outputMax)
  }

  obstacle(amount: NanoUsd, tokens: number): LimitViolation | undefined {
    const here = this.local.obstacle(amount, tokens)
    if (here || this.scopes.length === 0) return here
    const uses = this.book.recentUses(this.scopes)
    const { clock } = this.book
    return spendViolation(uses, amount, clock) ?? tokensViolation(uses, tokens, clock.nowMs)
  }

  reserve(amount: NanoUsd, tokens: number, kind: ReservationKind = 'known'): LimitClaim | undefined {
    this.local.reserve(amount, tokens, kind)
    this.isReserved = true
    const { book, scopes } = this
    if (scopes.length === 0) return undefined
    for (const one of scopes) book.make(one, this.caller)
    const meters = scopes.map(({ id }) => id)
    const at = book.dayOf(meters)
    const isTask = kind === 'task'
    this.claimed = { at, tokens, isTask, amount }
    book.look(scopes)
    const change = { requests: 1, tokens, inFlight: isTask ? 0 : 1, held: amount }
    return {
      metered: { meters, day: at.day, tokens },
      steps: scopes.map((one) => claimStep({ ...one, at }, change)),
      isSure: book.isSure(scopes, amount, tokens),
      violation: () => book.violationOf(scopes, amount, tokens),
    }
  }

  withdraw(): void {
    if (this.claimed) this.local.uncount()
    this.claimed = undefined
    this.isReserved = false
    this.local.withdraw()
  }

  extend(amount: NanoUsd): LimitExtension {
    const extension = this.local.extend(amount)
    const { claimed, book, scopes } = this
    if (extension.kind === 'limited' || !claimed) return extension
    const { at } = claimed
    claimed.amount += amount
    return {
      kind: 'extended',
      claim: {
        metered: { meters: scopes.map(({ id }) => id), day: at.day, tokens: 0 },
        steps: scopes.map((one) => claimStep({ ...one, at }, { held: amount })),
        isSure: book.isSure(scopes, amount, 0),
        violation: () => book.violationOf(scopes, amount, 0),
      },
    }
  }

  retract(amount: NanoUsd): void {
    if (this.claimed) this.claimed.amount -= amount
    this.local.retract(amount)
  }

  settle(charged: NanoUsd, tokens: number, output?: number): readonly WriteStep[] {
    if (!this.isReserved) return []
    this.isReserved = false
    this.local.settle(charged, tokens, output)
    return [...this.given(charged, tokens), ...this.spent(charged)]
  }

  /** Gives back to the meters what the hold has taken, and adds what was charged and used. */
  private given(charged: NanoUsd, tokens: number): readonly WriteStep[] {
    const { claimed, book, scopes } = this
    if (!claimed) return []
    this.claimed = undefined
    book.spoil(scopes)
    book.look(scopes)
    const { at, amount, isTask } = claimed
    const change = { tokens: tokens - claimed.tokens, inFlight: isTask ? 0 : -1, held: -amount, spent: charged }
    return scopes.map((one) => giveStep({ ...one, at }, change))
  }

  /** Adds what was charged to meters that were made after the request had begun. */
  private spent(charged: NanoUsd): readonly WriteStep[] {
    if (charged === 0n) return []
    const { book, scopes } = this
    const { key, account } = this.caller
    const late = [key.id, account.id].filter((id) => book.knows(id) && !scopes.some((one) => one.id === id))
    return late.map((id) => spentStep({ id, limits: NO_LIMITS, at: book.dayOf([id]) }, charged))
  }

  wasFutile(): void {
    this.local.wasFutile()
  }

  leave(): void {
    this.local.leave()
  }

  withRates(headers: Record<string, string> = {}): Record<string, string> {
    if (this.scopes.length === 0) return headers
    return this.book.rates(this.scopes, headers) ?? this.local.withRates(headers)
  }
}
