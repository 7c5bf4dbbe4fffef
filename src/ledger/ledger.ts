/**
 * The prepaid ledger. A request is `hold → settle | release | expire`; the operator's credits and debits are journals
 * of their own. Balances are decided in memory, in the tick of the request, and made durable by the writer thread; the
 * database repeats the conditions, those of balances once a commit, so that memory and disk cannot part unnoticed.
 */
import type { NanoUsd } from '../domain/money.ts'
import type { WriteStep, WriteOutcome } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import type { DeferredWrite } from '../store/writer.ts'
import {
  addFunds,
  entry,
  extendHold,
  holdFunds,
  insertBooking,
  insertHold,
  insertJournal,
  moveFunds,
  releasedStep,
  resolveHold,
  settledStep,
  settleStep,
  type NewHold,
  type ChargeRow,
} from './steps.ts'

/** Who owns a hold that lives with its task: no life of a process. */
const TASK_OWNER = 'task'

/**
 * A system account. They have entries but no balance row: their balance is derived. Those of charges, what was earned
 * and what was written off, are derived from holds (the view `books`).
 */
const FUNDING = 'system:funding'

/** Four billion dollars: far from the end of int64, where sums would stop being integers. */
const BALANCE_MAX: NanoUsd = 4_000_000_000_000_000_000n

export type Balance = { readonly posted: NanoUsd; readonly held: NanoUsd; readonly available: NanoUsd }

/** Funds set aside for one request. `id` is the request's id; `amount` grows with `extend`. */
export type Hold = NewHold & {
  /** Its beginning, where that was made to wait for its end: end a hold with the object that `hold` gave. */
  readonly waiting: DeferredWrite | undefined
}

export type HoldRequest = {
  readonly id: string
  readonly accountId: string
  readonly amount: NanoUsd
  /**
   * `soon`: nothing reaches the client before its end. It is written within milliseconds, or together with its end
   * where that comes first: a request that fails or is answered at once is one commit instead of two.
   */
  readonly written?: 'now' | 'soon' | undefined
  /** Steps that are written in the same transaction. */
  readonly also?: readonly WriteStep[] | undefined
  /** When it is made; now, where nothing is said. */
  readonly createdAtMs?: number | undefined
  /** `task`: it outlives this process, because what it is for does. Whoever has the task takes it up again. */
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

/** A further charge of what another hold was made for. `id` is its own: it has a hold and a record to itself. */
export type FurtherCharge = Charge & Pick<Hold, 'id' | 'accountId'> & { readonly createdAtMs: number }

export type Settlement = {
  readonly charged: NanoUsd
  /** What the charge lacked: written off, so that the balance stays at or above zero. */
  readonly writtenOff: NanoUsd
}

export type Adjustment = {
  readonly accountId: string
  /** Positive for a credit or refund, positive too for a debit: the kind says the direction. */
  readonly amount: NanoUsd
  readonly kind: 'credit' | 'debit' | 'refund'
  /** Unique: the same reference is never booked twice. */
  readonly ref: string
  readonly reason: string
  /** A condition that is met, and used up, in the same transaction. */
  readonly provided?: WriteStep | undefined
}
export type AdjustmentResult = {
  readonly kind: 'booked' | 'not_provided' | 'duplicate_ref' | 'insufficient' | 'too_large' | 'unknown_account'
}

export type Ledger = {
  balance(accountId: string): Balance
  /** Whether nothing is left, held or not. */
  isEmpty(accountId: string): boolean
  /** Makes an account known; new accounts start at zero. */
  register(accountId: string): void
  hold(request: HoldRequest): HoldResult
  /**
   * Adds `amount` to an open hold, in the tick. What the addition pays for must not reach the client before `durable`.
   * Refused where the balance does not have it; the hold stays as it was then.
   */
  extend(hold: Hold, amount: NanoUsd): ExtendResult
  /** Charges `cost` against a hold, once. `also` gives steps of the same transaction; what it throws is thrown. */
  settle(hold: Hold, charge: Charge, also: (settlement: Settlement) => readonly WriteStep[]): Promise<void>
  /**
   * Steps of a further charge, on a line of its own, for the transaction of `settle`: to be called in its `also`, which
   * must give them back.
   */
  line(line: FurtherCharge): Settlement & { readonly steps: readonly WriteStep[] }
  /** Gives a hold back, once. */
  release(hold: Hold, also: readonly WriteStep[]): Promise<void>
  adjust(adjustment: Adjustment): Promise<AdjustmentResult>
  openHolds(): number
  isOpen(hold: Hold): boolean
}

export type LedgerOptions = {
  /** Names this life of the process in the holds that it leaves open on disk for a while. */
  readonly owner: string
  /** Called when the database refuses what memory decided. They have parted: the caller must stop the process. */
  readonly onBroken: (message: string) => void
  /** Steps that go along with the expiry of a hold, by its id. */
  readonly alsoOnExpiry?: ((holdId: string) => readonly WriteStep[]) | undefined
}

type Funds = { posted: NanoUsd; held: NanoUsd }

/**
 * Loads the balances. Holds that another life of this process left open have lost their owner and expire here, in the
 * customer's favour: their answers never reached a terminal byte.
 */
export async function openLedger(
  store: Store,
  { owner, onBroken, alsoOnExpiry }: LedgerOptions,
): Promise<{ ledger: Ledger; expired: number }> {
  const expired = await expireOrphans(store, alsoOnExpiry)
  const funds = new Map<string, Funds>()
  for (const row of await store.query('SELECT id, posted, held FROM account')) {
    funds.set(row['id'] as string, { posted: row['posted'] as bigint, held: row['held'] as bigint })
  }
  const [last] = await store.query('SELECT max(id) AS id FROM journal')
  const book = new Book(store, { owner, onBroken }, funds, Number(last?.['id'] ?? 0))
  for (const row of await store.query("SELECT id FROM hold WHERE state = 'open'")) book.takeUp(row['id'] as string)
  return { ledger: book, expired }
}

class Book implements Ledger {
  private readonly store: Store
  private readonly options: LedgerOptions
  private readonly funds: Map<string, Funds>
  private lastJournalId: number
  /** The ids of open holds, and nothing else: what a Set held once, the collector may keep for long. */
  private readonly open = new Set<string>()

  constructor(store: Store, options: LedgerOptions, funds: Map<string, Funds>, lastJournalId: number) {
    this.store = store
    this.options = options
    this.funds = funds
    this.lastJournalId = lastJournalId
  }

  register(accountId: string): void {
    if (!this.funds.has(accountId)) this.funds.set(accountId, { posted: 0n, held: 0n })
  }

  openHolds(): number {
    return this.open.size
  }

  isOpen({ id }: Hold): boolean {
    return this.open.has(id)
  }

  balance(accountId: string): Balance {
    const { posted, held } = this.of(accountId)
    return { posted, held, available: posted - held }
  }

  isEmpty(accountId: string): boolean {
    return this.of(accountId).posted <= 0n
  }

  /** A hold of a former life of this process, whose task goes on. */
  takeUp(holdId: string): void {
    this.open.add(holdId)
  }

  hold(request: HoldRequest): HoldResult {
    const { id, accountId, amount, written = 'now', also = [], createdAtMs = Date.now() } = request
    const owner = request.livesWith === 'task' ? TASK_OWNER : this.options.owner
    const funds = this.of(accountId)
    if (amount < 0n) throw new RangeError('a hold is never negative')
    if (funds.posted - funds.held < amount) return { kind: 'insufficient', balance: this.balance(accountId) }
    // What goes along with a hold must not be lost when its end takes its place.
    if (written === 'soon' && also.length > 0) throw new Error('a hold that waits is written alone')
    funds.held += amount
    const begun = { id, accountId, amount, createdAtMs }
    this.open.add(id)
    if (written === 'soon') {
      const waiting = this.store.defer(() => this.begun(begun, owner), this.hear)
      return new WaitingHold({ id, accountId, amount, createdAtMs, waiting }, waiting)
    }
    const durable = this.commit([...this.begun(begun, owner), ...also])
    return { kind: 'held', hold: { ...begun, waiting: undefined }, durable }
  }

  extend(hold: Hold, amount: NanoUsd): ExtendResult {
    if (amount < 0n) throw new RangeError('a hold never shrinks')
    if (hold.waiting) throw new Error('a hold that waits is written with its end')
    const funds = this.of(hold.accountId)
    if (!this.open.has(hold.id) || funds.posted - funds.held < amount) return { kind: 'insufficient' }
    funds.held += amount
    ;(hold as { amount: NanoUsd }).amount += amount
    const durable = this.commit([
      { run: holdFunds, bind: [amount, hold.accountId], changes: 1 },
      { run: extendHold, bind: [hold.id, amount], changes: 1 },
    ])
    return { kind: 'held', durable }
  }

  /** What is written of a hold that stands by itself. */
  private begun({ id, accountId, amount, createdAtMs }: NewHold, owner: string): WriteStep[] {
    return [
      { run: holdFunds, bind: [amount, accountId], changes: 1 },
      { run: insertHold, bind: [id, accountId, amount, owner, createdAtMs], changes: 1 },
    ]
  }

  settle(hold: Hold, asked: Charge, also: (settlement: Settlement) => readonly WriteStep[]): Promise<void> {
    const funds = this.resolve(hold)
    if (!funds) return notOpen(hold)
    const { waiting } = hold
    const nowMs = Date.now()
    const charge = take(funds, asked)
    const { charged } = charge
    const steps = also(charge)
    const move = { run: addFunds, bind: [hold.accountId, -charged], changes: 1 }
    if (waiting?.replace([move, settledStep(hold, charge, nowMs), ...steps])) return waiting.written
    return this.commit([
      settleStep(hold, charge, nowMs),
      { run: moveFunds, bind: [-charged, hold.amount, hold.accountId], changes: 1 },
      ...steps,
    ])
  }

  line(line: FurtherCharge): Settlement & { readonly steps: readonly WriteStep[] } {
    const { id, accountId, createdAtMs } = line
    const nowMs = Date.now()
    const charge = take(this.of(accountId), line)
    const { charged, writtenOff } = charge
    const move = { run: addFunds, bind: [accountId, -charged], changes: 1 }
    const hold = { id, accountId, amount: 0n, createdAtMs }
    return { charged, writtenOff, steps: [move, settledStep(hold, charge, nowMs)] }
  }

  release(hold: Hold, also: readonly WriteStep[]): Promise<void> {
    if (!this.resolve(hold)) return notOpen(hold)
    const { waiting } = hold
    if (waiting?.replace([releasedStep(hold, Date.now()), ...also])) return waiting.written
    return this.commit([
      { run: resolveHold, bind: [hold.id, 'released', Date.now()], changes: 1 },
      { run: moveFunds, bind: [0n, hold.amount, hold.accountId], changes: 1 },
      ...also,
    ])
  }

  async adjust({ accountId, amount, kind, ref, reason, provided }: Adjustment): Promise<AdjustmentResult> {
    const funds = this.funds.get(accountId)
    if (!funds) return { kind: 'unknown_account' }
    if (amount <= 0n) throw new RangeError('an adjustment is positive; its kind says the direction')
    const change = kind === 'debit' ? -amount : amount
    if (funds.posted + change - funds.held < 0n) return { kind: 'insufficient' }
    if (funds.posted + change > BALANCE_MAX) return { kind: 'too_large' }
    // A debit leaves memory before the commit and a credit enters after it, so that memory never promises more.
    if (change < 0n) funds.posted += change
    const nowMs = Date.now()
    const journalId = ++this.lastJournalId
    const outcome = await this.store.write([
      ...(provided ? [provided] : []),
      { run: insertJournal, bind: [journalId, kind, ref, reason, nowMs] },
      { run: addFunds, bind: [accountId, change], changes: 1 },
      { run: insertBooking, bind: [accountId, nowMs, journalId], changes: 1 },
      entry(journalId, accountId, change),
      entry(journalId, FUNDING, -change),
    ])
    if (outcome.kind === 'written') {
      if (change > 0n) funds.posted += change
      return { kind: 'booked' }
    }
    if (change < 0n) funds.posted -= change
    if (provided && outcome.step === 0) return { kind: 'not_provided' }
    if (!outcome.reason.includes('journal.ref')) this.options.onBroken(`${kind} refused: ${outcome.reason}`)
    return { kind: 'duplicate_ref' }
  }

  /** Writes what memory has decided already. */
  private commit(steps: readonly WriteStep[]): Promise<void> {
    return this.store.write(steps).then(this.check)
  }

  /** A refusal stops the process; the error is for those who wait. */
  private readonly hear = (outcome: WriteOutcome): Error | undefined => {
    if (outcome.kind === 'written') return undefined
    this.options.onBroken(`step ${outcome.step}: ${outcome.reason}`)
    return new Error(`the ledger's database refused a decision: ${outcome.reason}`)
  }

  private readonly check = (outcome: WriteOutcome): void => {
    const error = this.hear(outcome)
    if (error) throw error
  }

  private of(accountId: string): Funds {
    const funds = this.funds.get(accountId)
    if (!funds) throw new Error(`account ${accountId} is not registered with the ledger`)
    return funds
  }

  /** Takes a hold out of memory. Undefined when it was resolved before: a request settles or releases, once. */
  private resolve(hold: Hold): Funds | undefined {
    if (!this.open.delete(hold.id)) return undefined
    const funds = this.of(hold.accountId)
    funds.held -= hold.amount
    return funds
  }
}

/** Takes a cost in memory, also above the hold: what is not available is the operator's loss, never a debt. */
function take(funds: Funds, { cost, priceCardId }: Charge): ChargeRow {
  const free = funds.posted - funds.held
  const charged = cost < free ? cost : free
  funds.posted -= charged
  return { cost, charged, writtenOff: cost - charged, priceCardId }
}

const notOpen = ({ id }: Hold): Promise<never> => Promise.reject(new Error(`hold ${id} is not open`))

/** A hold that is written with its end, or by itself where that takes longer. */
class WaitingHold {
  readonly kind = 'held'
  readonly hold: Hold
  private readonly waiting: DeferredWrite

  constructor(hold: Hold, waiting: DeferredWrite) {
    this.hold = hold
    this.waiting = waiting
  }

  /** Made for those who ask: hardly anybody does. */
  get durable(): Promise<void> {
    return this.waiting.written
  }
}

async function expireOrphans(store: Store, also: LedgerOptions['alsoOnExpiry']): Promise<number> {
  const sql = "SELECT id, account_id, amount FROM hold WHERE state = 'open' AND owner <> ?"
  const orphans = await store.query(sql, [TASK_OWNER])
  for (const { id, account_id: accountId, amount } of orphans) {
    await mustWrite(store, [
      { run: resolveHold, bind: [id as string, 'expired', Date.now()], changes: 1 },
      { run: moveFunds, bind: [0n, amount as bigint, accountId as string], changes: 1 },
      ...(also?.(id as string) ?? []),
    ])
  }
  return orphans.length
}
