/**
 * The prepaid ledger: the port that every store of it implements, and the rules that stores share. `sqlite-ledger.ts`
 * implements it on SQLite. `ledger-contract.ts` is the suite that every implementation passes.
 *
 * The money of a request goes `hold → settle | release | expire`. A credit or debit of the operator is a journal.
 *
 * Invariants:
 * - `posted - held` of an account is never below zero, and neither is `held`.
 * - A hold is resolved once: settled, released or expired.
 * - If two calls want the last dollar, the first one gets it. A store that one process owns decides at once, in the
 *   tick of the call. A store that several processes share decides when it writes, and `durable` resolves to that.
 * - A hold that is refused at any moment leaves nothing behind, and nothing is ever charged for it.
 * - What a returned promise reported survives the end of the process.
 *
 * Amounts are nano-USD, times are Unix milliseconds.
 */
import type { LimitViolation } from '../domain/limit-violation.ts'
import type { LimitCount } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { WriteStep } from '../store/statement.ts'

/** Four billion dollars. This is far below the end of int64, where sums would no longer be integers. */
export const BALANCE_MAX: NanoUsd = 4_000_000_000_000_000_000n

/** The money of an account: the booked balance, and the sum of its open holds. */
export type Funds = { readonly posted: NanoUsd; readonly held: NanoUsd }

export type Balance = Funds & { readonly available: NanoUsd }

/** Money reserved for one request. `id` is the request's id. `amount` grows with `extend`. */
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
  /** What the hold takes of limits that the store keeps. It is given back when the hold expires. */
  readonly counted?: LimitCount | undefined
  /**
   * With `soon`, nothing may reach the client before the hold ends. The hold is written within milliseconds, or
   * together with its end if that comes first. A request that fails or is answered at once is then one commit instead
   * of two. Such a hold has no `also` and no `conditions`, and cannot be extended. A store that decides when it writes
   * writes it now.
   */
  readonly written?: 'now' | 'soon' | undefined
  /** What the store must accept beside the amount, in the same transaction. */
  readonly conditions?: readonly HoldCondition[] | undefined
  /** Further steps of the same transaction. */
  readonly also?: readonly WriteStep[] | undefined
  /** When the hold is made. The default is now. */
  readonly createdAtMs?: number | undefined
  /** With `task`, the hold outlives this process, because its task does. The owner of the task ends it. */
  readonly livesWith?: 'process' | 'task' | undefined
}

/** A condition of a hold beside the balance: steps of its transaction that the store may refuse. */
export type HoldCondition = {
  readonly steps: readonly WriteStep[]
  /** Whether a refusal is so unlikely that a vendor may be asked before the hold is on disk. */
  readonly isSure: boolean
  /** The reason, once the store has refused one of the steps. */
  readonly refusal: () => Promise<HoldRefusal>
}

/** Why a hold or an extension is refused. */
export type HoldRefusal =
  | { readonly kind: 'insufficient'; readonly balance: Balance }
  | { readonly kind: 'limited'; readonly violation: LimitViolation }
  /** Another request has locked the idempotency key first. */
  | { readonly kind: 'key_taken' }

/** How the write of a hold or an extension ended. After a refusal nothing of it is on disk. */
export type HoldOutcome = { readonly kind: 'durable' } | { readonly kind: 'refused'; readonly refusal: HoldRefusal }

export type HoldResult =
  | {
      readonly kind: 'held'
      readonly hold: Hold
      /**
       * Whether a refusal is so unlikely that a vendor may be asked before the hold is on disk. Always true if the
       * ledger decides at once.
       */
      readonly isSure: boolean
      /**
       * Resolves when the hold is on disk, or when the store has refused it. Nothing may reach the client before. A
       * ledger that decides at once never refuses here.
       */
      readonly durable: Promise<HoldOutcome>
    }
  | { readonly kind: 'insufficient'; readonly balance: Balance }

export type ExtendResult =
  | { readonly kind: 'held'; readonly durable: Promise<HoldOutcome> }
  | { readonly kind: 'insufficient' }

export type Charge = {
  readonly cost: NanoUsd
  readonly priceCardId: number
  /** What further lines of the settlement cost together. A store that decides when it writes reserves it before. */
  readonly furtherCost?: NanoUsd
}

/** A further charge beside another hold. It has its own `id`, hold and record. */
export type FurtherCharge = Omit<Charge, 'furtherCost'> &
  Pick<Hold, 'id' | 'accountId'> & { readonly createdAtMs: number }

export type Settlement = {
  readonly charged: NanoUsd
  /** The part of the cost that the balance does not cover. It is the operator's loss, and never a debt. */
  readonly writtenOff: NanoUsd
}

export type Adjustment = {
  readonly accountId: string
  /** Above zero. The kind gives the direction. */
  readonly amount: NanoUsd
  readonly kind: 'credit' | 'debit' | 'refund'
  /** A unique reference. The same one is never booked twice. */
  readonly ref: string
  readonly reason: string
  /** A condition that is checked and used up in the same transaction. */
  readonly provided?: WriteStep | undefined
}

/** For every result except `booked`, nothing is written and no balance changes. */
export type AdjustmentResult = {
  readonly kind: 'booked' | 'not_provided' | 'duplicate_ref' | 'insufficient' | 'too_large' | 'unknown_account'
}

/** Methods that name an account throw if it is not registered. `adjust` returns a result instead. */
export type Ledger = {
  /**
   * `at_once`: `hold` and `extend` decide in the tick of the call, and what they held stays held. `when_written`: the
   * store decides, because other processes use the same balances. `hold` and `extend` then answer by what this process
   * knows last, and `durable` resolves to the decision.
   */
  readonly decides: 'at_once' | 'when_written'
  /** The balance, or what this process knows last of it if the store decides. */
  balance(accountId: string): Balance
  /**
   * Reads balances that other processes may have changed, so that `balance` says what there is. Undefined if it always
   * does. Rejects if the store cannot be read.
   */
  refresh(accountIds: readonly string[]): Promise<void> | undefined
  /** Resolves when the store has decided on what this process has taken. Undefined if the ledger decides at once. */
  whenDecided(accountId: string): Promise<void> | undefined
  /**
   * Whether the balance may be more than this process knows: others may have changed it since, or the store may refuse
   * holds of this process that it has not decided on.
   */
  isOutdated(accountId: string): boolean
  /** Whether the booked balance is zero, whatever is held. */
  isEmpty(accountId: string): boolean
  /** Makes an account known, with a balance of zero. A known account keeps its balance. */
  register(accountId: string): void
  /** Throws a RangeError for an amount below zero. */
  hold(request: HoldRequest): HoldResult
  /**
   * Adds `amount` to an open hold. What the addition pays for must not reach the client before `durable`. Refused if
   * the balance or a condition does not allow it, or the hold is resolved. The hold then stays unchanged. Throws a
   * RangeError for an amount below zero, and an Error for a hold that is written `soon`.
   */
  extend(hold: Hold, amount: NanoUsd, conditions?: readonly HoldCondition[]): ExtendResult
  /**
   * Charges `cost` against a hold, once. The cost may exceed the hold (see `settlementOf`). `hold` is the object that
   * `hold` returned or, for the hold of a task, one with the same members. `also` returns steps of the same
   * transaction. It runs before the promise resolves, once. An error that it throws is thrown. Rejects and changes
   * nothing if the hold is not open. If the store decides, the hold must be durable.
   */
  settle(hold: Hold, charge: Charge, also: (settlement: Settlement) => readonly WriteStep[]): Promise<void>
  /**
   * The steps of a further charge, on its own line, for the transaction of `settle`. It must be called in the `also` of
   * `settle`, which must return the steps. Its cost is part of the `furtherCost` of `settle`.
   */
  line(line: FurtherCharge): Settlement & { readonly steps: readonly WriteStep[] }
  /** Releases a hold, once. The same conditions apply. */
  release(hold: Hold, also: readonly WriteStep[]): Promise<void>
  /** Books a credit, a debit or a refund. Throws a RangeError for an amount of zero or less. */
  adjust(adjustment: Adjustment): Promise<AdjustmentResult>
  /** The number of open holds of all accounts. */
  openHolds(): number
  isOpen(hold: Hold): boolean
}

export type LedgerOptions = {
  /** The id of this instance. On disk it is the owner of its open holds. */
  readonly instance: string
  /** Called when the database refuses a decision of memory. They disagree, so the caller must stop the process. */
  readonly onBroken: (message: string) => void
  /** Further steps for the expiry of a hold, by its id. */
  readonly alsoOnExpiry?: ((holdId: string) => readonly WriteStep[]) | undefined
}

/** A ledger, and the number of holds of a former process that expired when it was opened. */
export type OpenedLedger = { readonly ledger: Ledger; readonly expired: number }

/** How the funds pay a cost, even above the hold. The part that is not available is written off. */
export function settlementOf(funds: Funds, cost: NanoUsd): Settlement {
  const free = funds.posted - funds.held
  const charged = cost < free ? cost : free
  return { charged, writtenOff: cost - charged }
}

/** Why a change of the booked balance is not allowed, or undefined if it is. */
export function adjustmentRefusal({ posted, held }: Funds, change: NanoUsd): 'insufficient' | 'too_large' | undefined {
  if (posted + change - held < 0n) return 'insufficient'
  return posted + change > BALANCE_MAX ? 'too_large' : undefined
}
