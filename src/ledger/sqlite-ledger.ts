/**
 * The ledger on SQLite. Balances are decided in memory, in the tick of the request, and made durable by the writer
 * thread. The database repeats the conditions, those of balances once per commit, so a disagreement of memory and disk
 * is always noticed.
 */
import type { NanoUsd } from '../domain/money.ts'
import { violates } from '../store/constraint.ts'
import type { WriteStep, WriteOutcome } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { expireOrphans, TASK_OWNER } from './sqlite-expiry.ts'
import {
  adjustmentRefusal,
  settlementOf,
  type Adjustment,
  type AdjustmentResult,
  type Balance,
  type Charge,
  type ExtendResult,
  type FurtherCharge,
  type Hold,
  type HoldCondition,
  type HoldOutcome,
  type HoldRequest,
  type HoldResult,
  type Ledger,
  type LedgerOptions,
  type OpenedLedger,
  type Settlement,
} from './ledger.ts'
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
  type ChargeRow,
} from './steps.ts'
import { DURABLE, WaitingHold, waitingOf, type SqliteHold } from './waiting-hold.ts'

/**
 * A system account. System accounts have entries but no balance row, because their balances are derived. What was
 * earned and what was written off is derived from holds (the view `books`).
 */
const FUNDING = 'system:funding'

/** A reference is booked at most once. */
const REF_KEY = 'journal(ref)'

const UNCONDITIONAL: readonly HoldCondition[] = []

/** The funds change in the tick of a decision. */
type MutableFunds = { posted: NanoUsd; held: NanoUsd }

/**
 * Opens the ledger and loads the balances. Open holds of a former process have lost their owner. They expire here in
 * the customer's favour, because their answers never reached a terminal byte.
 */
export async function openSqliteLedger(store: Store, options: LedgerOptions): Promise<OpenedLedger> {
  const expired = await expireOrphans(store, options.alsoOnExpiry)
  const funds = new Map<string, MutableFunds>()
  for (const row of await store.query('SELECT id, posted, held FROM account')) {
    funds.set(row['id'] as string, { posted: row['posted'] as bigint, held: row['held'] as bigint })
  }
  const [last] = await store.query('SELECT max(id) AS id FROM journal')
  const ledger = new SqliteLedger(store, options, funds, Number(last?.['id'] ?? 0))
  for (const row of await store.query("SELECT id FROM hold WHERE state = 'open'")) ledger.takeUp(row['id'] as string)
  return { ledger, expired }
}

class SqliteLedger implements Ledger {
  readonly decides = 'at_once'
  private readonly store: Store
  private readonly options: LedgerOptions
  private readonly funds: Map<string, MutableFunds>
  private lastJournalId: number
  /** The ids of open holds. A Set may keep its past members from being collected for long, so it holds no objects. */
  private readonly open = new Set<string>()

  constructor(store: Store, options: LedgerOptions, funds: Map<string, MutableFunds>, lastJournalId: number) {
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

  refresh(): undefined {
    return undefined
  }

  whenDecided(): undefined {
    return undefined
  }

  isOutdated(): boolean {
    return false
  }

  isEmpty(accountId: string): boolean {
    return this.of(accountId).posted <= 0n
  }

  /** Takes over a hold of a former process whose task continues. */
  takeUp(holdId: string): void {
    this.open.add(holdId)
  }

  hold(request: HoldRequest): HoldResult {
    const { id, accountId, amount, written = 'now', also = [], conditions = UNCONDITIONAL } = request
    const { createdAtMs = Date.now() } = request
    const owner = request.livesWith === 'task' ? TASK_OWNER : this.options.instance
    const funds = this.of(accountId)
    if (amount < 0n) throw new RangeError('a hold is never negative')
    if (funds.posted - funds.held < amount) return { kind: 'insufficient', balance: this.balance(accountId) }
    // The deferred write may be replaced by that of the end, which would lose these steps.
    if (written === 'soon' && also.length + conditions.length > 0) throw new Error('a hold that waits is written alone')
    funds.held += amount
    const begun = { id, accountId, amount, createdAtMs }
    this.open.add(id)
    if (written === 'soon') {
      const waiting = this.store.defer(() => this.begun(begun, owner), this.hear)
      return new WaitingHold({ id, accountId, amount, createdAtMs, waiting }, waiting)
    }
    const durable = this.commitHold([...this.begun(begun, owner), ...stepsOf(conditions), ...also])
    const hold: SqliteHold = { ...begun, waiting: undefined }
    return { kind: 'held', hold, isSure: true, durable }
  }

  extend(hold: Hold, amount: NanoUsd, conditions = UNCONDITIONAL): ExtendResult {
    if (amount < 0n) throw new RangeError('a hold never shrinks')
    if (waitingOf(hold)) throw new Error('a hold that waits is written with its end')
    const funds = this.of(hold.accountId)
    if (!this.open.has(hold.id) || funds.posted - funds.held < amount) return { kind: 'insufficient' }
    funds.held += amount
    ;(hold as { amount: NanoUsd }).amount += amount
    const durable = this.commitHold([
      { run: holdFunds, bind: [amount, hold.accountId], changes: 1 },
      { run: extendHold, bind: [hold.id, amount], changes: 1 },
      ...stepsOf(conditions),
    ])
    return { kind: 'held', durable }
  }

  /** The steps of a hold that is written by itself. */
  private begun({ id, accountId, amount, createdAtMs }: Hold, owner: string): WriteStep[] {
    return [
      { run: holdFunds, bind: [amount, accountId], changes: 1 },
      { run: insertHold, bind: [id, accountId, amount, owner, createdAtMs], changes: 1 },
    ]
  }

  settle(hold: Hold, asked: Charge, also: (settlement: Settlement) => readonly WriteStep[]): Promise<void> {
    const funds = this.resolve(hold)
    if (!funds) return notOpen(hold)
    const waiting = waitingOf(hold)
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
    const waiting = waitingOf(hold)
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
    if (amount <= 0n) throw new RangeError('an adjustment must be positive; its kind gives the direction')
    const change = kind === 'debit' ? -amount : amount
    const refusal = adjustmentRefusal(funds, change)
    if (refusal) return { kind: refusal }
    // A debit leaves memory before the commit, and a credit enters after it. Memory never promises more than the disk.
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
    if (!violates(outcome, REF_KEY)) this.options.onBroken(`${kind} refused: ${outcome.reason}`)
    return { kind: 'duplicate_ref' }
  }

  /** Writes a decision that memory has already made. */
  private commit(steps: readonly WriteStep[]): Promise<void> {
    return this.store.write(steps).then(this.check)
  }

  private commitHold(steps: readonly WriteStep[]): Promise<HoldOutcome> {
    return this.store.write(steps).then(this.checkHold)
  }

  /** A refusal stops the process. The error is for the callers that wait. */
  private readonly hear = (outcome: WriteOutcome): Error | undefined => {
    if (outcome.kind === 'written') return undefined
    this.options.onBroken(`step ${outcome.step}: ${outcome.reason}`)
    return new Error(`the ledger's database refused a decision: ${outcome.reason}`)
  }

  private readonly check = (outcome: WriteOutcome): void => {
    const error = this.hear(outcome)
    if (error) throw error
  }

  private readonly checkHold = (outcome: WriteOutcome): HoldOutcome => {
    this.check(outcome)
    return DURABLE
  }

  private of(accountId: string): MutableFunds {
    const funds = this.funds.get(accountId)
    if (!funds) throw new Error(`account ${accountId} is not registered with the ledger`)
    return funds
  }

  /** Removes a hold from memory. Returns undefined if it was already resolved. */
  private resolve(hold: Hold): MutableFunds | undefined {
    if (!this.open.delete(hold.id)) return undefined
    const funds = this.of(hold.accountId)
    funds.held -= hold.amount
    return funds
  }
}

/** Takes a cost from the balance in memory. */
function take(funds: MutableFunds, { cost, priceCardId }: Charge): ChargeRow {
  const { charged, writtenOff } = settlementOf(funds, cost)
  funds.posted -= charged
  return { cost, charged, writtenOff, priceCardId }
}

/** Memory has decided these, too: the store has one process, which knows its keys and limits. */
const stepsOf = (conditions: readonly HoldCondition[]): readonly WriteStep[] => conditions.flatMap(({ steps }) => steps)

const notOpen = ({ id }: Hold): Promise<never> => Promise.reject(new Error(`hold ${id} is not open`))
