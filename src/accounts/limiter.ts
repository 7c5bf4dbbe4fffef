/**
 * Limits of keys and accounts: rates, concurrency, and spend per day and month, in which open holds count. This is the
 * port that every limiter implements, and the rules that limiters share. `memory-limiter.ts` implements it for one
 * process, `postgres-limiter.ts` for instances that share a store. `limiter-contract.ts` is the suite of both.
 *
 * Invariants:
 * - A request must meet the limits of its key and those of its account. Each decision is made in the tick of the call.
 * - It must also meet the limits of its model, once that is known. It counts for the model from its reservation on. A
 *   request that holds no money takes nothing from the other accounts.
 * - Amounts that are reserved after `obstacle` found none never take a day's or month's spent and held beyond its
 *   limit.
 * - A request counts for the day (UTC) on which it began. A clock that is set back frees nothing.
 * - A change of limits is in force from the next call on.
 *
 * Money is nano-USD, times are milliseconds.
 */
import type { Caller } from '../domain/account.ts'
import type { Model } from '../domain/catalog.ts'
import type { LimitViolation, SpendLimited } from '../domain/limit-violation.ts'
import type { LimitCount } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { WriteStep } from '../store/statement.ts'
import type { LimitStatus } from './limit-status.ts'

/** The charges of the current month before this start. */
export type PastSpend = {
  readonly accountId: string
  readonly keyId: string
  /** Unix days. */
  readonly day: number
  readonly charged: NanoUsd
}

/** A model with its rates. Key and account may have limits for it by its id or an alias. */
export type LimitedModel = Pick<Model, 'id' | 'aliases' | 'rates'>

export type LimiterOptions = {
  /** How many requests any account may have in flight, so that others find room. */
  readonly accountMax?: number
  readonly now?: () => number
}

export type Limiter = {
  /** The clock of the limiter, in Unix milliseconds. */
  readonly now: () => number
  /** Admits a request, or returns the reason for a refusal. It counts from now on. `leave` must end the permit. */
  enter(caller: Caller): LimiterPermit | LimitViolation
  /**
   * Admits a request that costs nothing, or returns the reason for a refusal. The limit per minute is that of billed
   * requests, but free requests are counted separately. Spend does not matter.
   */
  enterFree(caller: Caller): LimitViolation | undefined
  /** The permit of work that a former process admitted and that continues. Its hold has the id of the request. */
  resume(caller: Caller, hold: ResumedHold): Pick<LimiterPermit, 'settle'>
  /** The `x-ratelimit-*` headers for a refused caller. */
  headers(caller: Caller): Record<string, string>
  /** The number of requests in flight of a key or an account. */
  inFlight(id: string): number
  /** Reads the state again that `limitStatuses` returns, if other processes change it. */
  refresh(caller: Caller): Promise<void> | undefined
  /** The state of the limits of the key and of the account. */
  limitStatuses(caller: Caller): readonly LimitStatus[]
}

/** The admission of one request by the limits of its key and account, from its arrival to its end. */
export type LimiterPermit = {
  readonly kind: 'admitted'
  /** The spend that the limits still allow, or undefined without spend limits. */
  readonly spendable: NanoUsd | undefined
  /**
   * Names the model of the request, before `obstacle` and `reserve`. Returns the reason for a refusal by the limits of
   * the model: those of the model itself, and those that the key and the account have for it.
   */
  choose(model: LimitedModel): LimitViolation | undefined
  /**
   * The tokens to count for a request without an output limit. This is the recent size of such answers, at most
   * `outputMax`, and at most half of what the minute has beside `known`. A guess alone must neither refuse this request
   * nor all others.
   */
  forecast(known: number, outputMax: number): number
  /** Why this much spend and these tokens are not available. Undefined if they are, for the rest of this tick. */
  obstacle(amount: NanoUsd, tokens: number): LimitViolation | undefined
  /**
   * Reserves what `obstacle` found available. A limiter whose store decides returns it, for the transaction of
   * the hold.
   */
  reserve(amount: NanoUsd, tokens: number, kind?: ReservationKind): LimitReservation | undefined
  /** Takes the reservation back, because its hold was refused. A second call does nothing. */
  withdraw(): void
  /** Reserves `amount` more of spend if the limits allow it. The reservation joins the extension's transaction. */
  extend(amount: NanoUsd): LimitExtension
  /** Takes back an extension that was refused. */
  retract(amount: NanoUsd): void
  /**
   * Replaces the reservation by what was charged and used. Both are zero if the request was not charged. `output` is
   * the output of a complete answer, in tokens. Returns the steps for the transaction that ends the hold. A second call
   * does nothing and returns none.
   */
  settle(charged: NanoUsd, tokens: number, output?: number): readonly WriteStep[]
  /** Counts a request that a vendor refused without a charge. */
  wasFutile(): void
  /** Ends the permit. A second call is safe. */
  leave(): void
  /** Adds `x-ratelimit-*` to headers. For each unit, the scope with less left counts. Without limits, adds nothing. */
  withRates(headers?: Record<string, string>): Record<string, string>
}

/** The hold of a request whose process is gone. */
export type ResumedHold = { readonly id: string; readonly amount: NanoUsd }

/** `forecast`: a part of the tokens is a forecast. `task`: the work outlives its request. */
export type ReservationKind = 'known' | 'forecast' | 'task'

/** What a reservation takes of limits that the store decides: steps that the store may refuse. */
export type LimitReservation = {
  readonly counted: LimitCount
  readonly steps: readonly WriteStep[]
  /** Whether a refusal is so unlikely that a vendor may be asked before the steps are written. */
  readonly isSure: boolean
  /** The reason, once the store has refused one of the steps. */
  readonly violation: () => Promise<LimitViolation>
}

/** An extension, with its reservation if the store decides it. */
export type LimitExtension =
  | { readonly kind: 'extended'; readonly reservation?: LimitReservation | undefined }
  | { readonly kind: 'limited' }

type SpendNeeded = { readonly limit: NanoUsd; readonly spent: NanoUsd; readonly amount: NanoUsd }

/** What would make room for `amount` when the spend limit refuses it. */
export function spendFreedBy({ limit, spent, amount }: SpendNeeded): SpendLimited['freedBy'] {
  if (amount > limit) return 'nothing'
  return spent + amount > limit ? 'period' : 'holds'
}
