/**
 * The prepaid ledger: the port that every store of it implements, and the rules that they share. `sqlite-ledger.ts`
 * implements it on SQLite. `ledger-contract.ts` is the suite that every implementation passes.
 *
 * A request is `hold → settle | release | expire`. A credit or debit of the operator is a journal.
 *
 * Invariants:
 * - `posted - held` of an account is never below zero, and neither is `held`.
 * - A hold is resolved once: settled, released or expired.
 * - `hold` and `extend` decide in the tick of the call. Of two that want the last dollar, the first one has it.
 * - What a returned promise reported survives the end of the process.
 *
 * Amounts are nano-USD, times are Unix milliseconds.
 */
import type { NanoUsd } from '../domain/money.ts'
import type { WriteStep } from '../store/statement.ts'

/** Four billion dollars: far from the end of int64, where sums would stop being integers. */
export const BALANCE_MAX: NanoUsd = 4_000_000_000_000_000_000n

/** The money of an account: as booked, and the sum of its open holds. */
export type Funds = { readonly posted: NanoUsd; readonly held: NanoUsd }

export type Balance = Funds & { readonly available: NanoUsd }

/** Funds set aside for one request. `id` is the request's id; `amount` grows with `extend`. */
export type Hold = {
  readonly id: string
  readonly accountId: string
  readonly amount: NanoUsd
  readonly createdAtMs: number
}

export type HoldRequest = {
  readonly id: string
  readonly accountId: string
  readonly amount: NanoUsd
  /**
   * `soon`: nothing reaches the client before the hold ends. It is written within milliseconds, or together with its
   * end where that comes first: a request that fails or is answered at once is one commit instead of two. Such a hold
   * has no `also` and cannot be extended.
   */
  readonly written?: 'now' | 'soon' | undefined
  /** Steps that are written in the same transaction. */
  readonly also?: readonly WriteStep[] | undefined
  /** When it is made; by default now. */
  readonly createdAtMs?: number | undefined
  /** `task`: it outlives this process, because its task does. The owner of the task ends it. */
  readonly livesWith?: 'process' | 'task' | undefined
}

export type HoldResult =
  | {
      readonly kind: 'held'
      readonly hold: Hold
      /** Resolves when the hold is on disk. Nothing may reach the client before. */
      readonly durable: Promise<void>
    }
  | { readonly kind: 'insufficient'; readonly balance: Balance }

export type ExtendResult =
  | { readonly kind: 'held'; readonly durable: Promise<void> }
  | { readonly kind: 'insufficient' }

export type Charge = { readonly cost: NanoUsd; readonly priceCardId: number }

/** A further charge for the purpose of another hold. `id` is its own: it has a hold and a record to itself. */
export type FurtherCharge = Charge & Pick<Hold, 'id' | 'accountId'> & { readonly createdAtMs: number }

export type Settlement = {
  readonly charged: NanoUsd
  /** The part of the cost that the balance does not cover: the operator's loss, never a debt. */
  readonly writtenOff: NanoUsd
}

export type Adjustment = {
  readonly accountId: string
  /** Above zero. The kind gives the direction. */
  readonly amount: NanoUsd
  readonly kind: 'credit' | 'debit' | 'refund'
  /** Unique: the same reference is never booked twice. */
  readonly ref: string
  readonly reason: string
  /** A condition that is met, and used up, in the same transaction. */
  readonly provided?: WriteStep | undefined
}

/** Of all but `booked`, nothing is written and no balance changes. */
export type AdjustmentResult = {
  readonly kind: 'booked' | 'not_provided' | 'duplicate_ref' | 'insufficient' | 'too_large' | 'unknown_account'
}

/** Methods that name an account throw where it is not registered, except `adjust`, which says so. */
export type Ledger = {
  balance(accountId: string): Balance
  /** Whether nothing is left, held or not. */
  isEmpty(accountId: string): boolean
  /** Makes an account known, with a balance of zero. An account that is known keeps its balance. */
  register(accountId: string): void
  /** Throws a RangeError for an amount below zero. */
  hold(request: HoldRequest): HoldResult
  /**
   * Adds `amount` to an open hold, in the tick. What the addition pays for must not reach the client before `durable`.
   * Refused where the balance does not cover it or the hold is resolved; the hold stays as it was then. Throws a
   * RangeError for an amount below zero, and an Error for a hold that is written `soon`.
   */
  extend(hold: Hold, amount: NanoUsd): ExtendResult
  /**
   * Charges `cost` against a hold, once. It may exceed the hold: `settlementOf` has the rule. Takes the object that
   * `hold` gave, or, for the hold of a task, one with the same members. `also` gives steps of the same transaction; an
   * error that it throws is thrown. Rejects where the hold is not open; nothing changes then.
   */
  settle(hold: Hold, charge: Charge, also: (settlement: Settlement) => readonly WriteStep[]): Promise<void>
  /**
   * Steps of a further charge, on a line of its own, for the transaction of `settle`. It is called in the `also` of
   * `settle`, which must return the steps.
   */
  line(line: FurtherCharge): Settlement & { readonly steps: readonly WriteStep[] }
  /** Gives a hold back, once. Rejects where the hold is not open; nothing changes then. */
  release(hold: Hold, also: readonly WriteStep[]): Promise<void>
  /** Books a credit, a debit or a refund. Throws a RangeError for an amount of zero or less. */
  adjust(adjustment: Adjustment): Promise<AdjustmentResult>
  /** How many holds are open, of all accounts. */
  openHolds(): number
  isOpen(hold: Hold): boolean
}

export type LedgerOptions = {
  /** Names this life of the process in the holds that it leaves open on disk for a while. */
  readonly owner: string
  /** Called when the database refuses what memory decided. They disagree: the caller must stop the process. */
  readonly onBroken: (message: string) => void
  /** Steps that belong to the expiry of a hold, by its id. */
  readonly alsoOnExpiry?: ((holdId: string) => readonly WriteStep[]) | undefined
}

/** A ledger, and how many holds of a former life of the process expired when it was opened. */
export type OpenedLedger = { readonly ledger: Ledger; readonly expired: number }

/** What of a cost the funds can pay, also above the hold. What is not available is written off. */
export function settlementOf(funds: Funds, cost: NanoUsd): Settlement {
  const free = funds.posted - funds.held
  const charged = cost < free ? cost : free
  return { charged, writtenOff: cost - charged }
}

/** Why a change of the booked balance must not be; undefined where it may. */
export function adjustmentRefusal({ posted, held }: Funds, change: NanoUsd): 'insufficient' | 'too_large' | undefined {
  if (posted + change - held < 0n) return 'insufficient'
  return posted + change > BALANCE_MAX ? 'too_large' : undefined
}
