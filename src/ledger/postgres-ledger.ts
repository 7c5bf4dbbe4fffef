/**
 * The ledger on PostgreSQL, which several instances share. The account's row decides when a batch is written. Memory
 * only knows what it has seen last: it refuses what cannot succeed, and says whether a refusal is likely.
 *
 * Over 300 lines: the life of a hold is read in one place, as in the ledger on SQLite.
 */
import type { NanoUsd } from '../domain/money.ts'
import { violates } from '../store/constraint.ts'
import type { Row, WriteOutcome, WriteStep } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { BalanceReader } from './balance-reader.ts'
import { KnownFunds, type FundsChange } from './known-funds.ts'
import {
  adjustmentRefusal,
  type Adjustment,
  type AdjustmentResult,
  type Balance,
  type Charge,
  type ExtendResult,
  type FurtherCharge,
  type Hold,
  type HoldCondition,
  type HoldOutcome,
  type HoldRefusal,
  type HoldRequest,
  type HoldResult,
  type Ledger,
  type LedgerOptions,
  type Settlement,
} from './ledger.ts'
import {
  addExcess,
  insertBookedJournal,
  insertJournalBooking,
  insertJournalEntry,
  moveBalance,
  openHold,
} from './postgres-steps.ts'
import { TASK_OWNER } from './sqlite-expiry.ts'
import { extendHold, resolveHold, settledStep, settleStep } from './steps.ts'
import { DURABLE } from './waiting-hold.ts'

const FUNDING = 'system:funding'
const REF_KEY = 'journal(ref)'

/** For how long memory refuses by what it has seen. Later it asks. */
const KNOWN_MS = 100
/** The tries to hold what a cost exceeds its hold by, each by what the store had left after the one before. */
const EXCESS_TRIES = 3

const SELECT_STATE = 'SELECT state FROM hold WHERE id = ?'

export type PostgresLedgerOptions = Pick<LedgerOptions, 'instance' | 'onBroken'> & {
  /** For how long memory refuses by what it has seen. */
  readonly knownMs?: number
}

/**
 * Opens the ledger, and loads the balances. Accounts that other instances make later are announced. Nothing expires
 * here, because the other instances may be alive.
 */
export async function openPostgresLedger(store: Store, options: PostgresLedgerOptions): Promise<Ledger> {
  const ledger = new PostgresLedger(store, options)
  await store.changes.watch({
    kind: 'account',
    async load() {
      for (const row of await store.query('SELECT id, posted, held FROM account')) ledger.load(row)
    },
    reload: (id) => ledger.reload(id),
  })
  const tasks = "SELECT id FROM hold WHERE state = 'open' AND owner = ?"
  for (const { id } of await store.query(tasks, [TASK_OWNER])) ledger.takeUp(id as string)
  return ledger
}

/** A hold that is written at once although it could have waited. It keeps the rules of one that waits. */
type SharedHold = Hold & { readonly isSoon?: boolean }

class PostgresLedger implements Ledger {
  readonly decides = 'when_written'
  private readonly store: Store
  private readonly options: PostgresLedgerOptions
  private readonly knownMs: number
  private readonly funds = new Map<string, KnownFunds>()
  private readonly reader: BalanceReader
  private readonly open = new Set<string>()
  /** The ids of holds that are being ended. */
  private readonly ending = new Set<string>()
  /** What the settlement that is being made has left of what is reserved, and what its further lines have taken. */
  private settling: { left: NanoUsd; taken: NanoUsd } | undefined

  constructor(store: Store, options: PostgresLedgerOptions) {
    this.store = store
    this.reader = new BalanceReader(store, (id) => this.of(id))
    this.options = options
    this.knownMs = options.knownMs ?? KNOWN_MS
  }

  /** Takes the balance of an account that is new here. */
  load(row: Row): void {
    const id = row['id'] as string
    if (this.funds.has(id)) return
    this.register(id)
    this.of(id).see(row)
  }

  /** Reads the balance of an account that another instance has made or booked on. */
  reload(id: string): Promise<void> {
    this.register(id)
    return this.refresh([id])
  }

  takeUp(holdId: string): void {
    this.open.add(holdId)
  }

  register(accountId: string): void {
    if (!this.funds.has(accountId)) this.funds.set(accountId, new KnownFunds({ posted: 0n, held: 0n }))
  }

  openHolds(): number {
    return this.open.size
  }

  isOpen({ id }: Hold): boolean {
    return this.open.has(id)
  }

  balance(accountId: string): Balance {
    return this.seen(accountId).balance
  }

  /** A balance that is only remembered to be empty may have been filled by another instance. */
  isEmpty(accountId: string): boolean {
    return this.seen(accountId).balance.posted <= 0n && !this.isOld(accountId)
  }

  isOutdated(accountId: string): boolean {
    return this.isOld(accountId) || this.of(accountId).isUndecided
  }

  private isOld(accountId: string): boolean {
    return this.of(accountId).ageMs > this.knownMs
  }

  hold(request: HoldRequest): HoldResult {
    const { id, accountId, amount, conditions = [], also = [], createdAtMs = Date.now() } = request
    const isSoon = request.written === 'soon'
    const funds = this.of(accountId)
    if (amount < 0n) throw new RangeError('a hold is never negative')
    if (this.cannotTake(funds, amount)) return { kind: 'insufficient', balance: funds.balance }
    if (isSoon && also.length + conditions.length > 0) throw new Error('a hold that waits is written alone')
    const isSure = funds.isAmple(amount) && conditions.every((condition) => condition.isSure)
    const hold: SharedHold = { id, accountId, amount, createdAtMs, ...(isSoon && { isSoon }) }
    const owner = request.livesWith === 'task' ? TASK_OWNER : this.options.instance
    const { counters, day = null, tokens = null } = request.counted ?? {}
    this.open.add(id)
    const bind = [id, accountId, amount, owner, counters?.join(' ') ?? null, day, tokens, createdAtMs]
    const insert = { run: openHold, bind }
    const durable = this.reserve(hold, amount, [insert], conditions, also).then((outcome) => {
      if (outcome.kind === 'refused') this.open.delete(id)
      return outcome
    })
    return { kind: 'held', hold, isSure, durable }
  }

  extend(hold: SharedHold, amount: NanoUsd, conditions: readonly HoldCondition[] = []): ExtendResult {
    if (amount < 0n) throw new RangeError('a hold never shrinks')
    if (hold.isSoon) throw new Error('a hold that waits is written with its end')
    if (!this.open.has(hold.id) || this.cannotTake(this.of(hold.accountId), amount)) return { kind: 'insufficient' }
    ;(hold as { amount: NanoUsd }).amount += amount
    const grow = { run: extendHold, bind: [hold.id, amount], changes: 1 }
    const durable = this.reserve(hold, amount, [grow], conditions, []).then((outcome) => {
      if (outcome.kind === 'refused') (hold as { amount: NanoUsd }).amount -= amount
      return outcome
    })
    return { kind: 'held', durable }
  }

  settle(hold: Hold, charge: Charge, also: (settlement: Settlement) => readonly WriteStep[]): Promise<void> {
    if (!this.take(hold)) return this.takeOther(hold).then(() => this.charge(hold, charge, also))
    return this.charge(hold, charge, also)
  }

  /** Charges a hold that is taken. An excess of the cost is held first, so that the charge is known. */
  private charge(hold: Hold, charge: Charge, also: Parameters<Ledger['settle']>[2]): Promise<void> {
    const excess = charge.cost + (charge.furtherCost ?? 0n) - hold.amount
    if (excess <= 0n) return this.chargeCovered(hold, charge, { covered: hold.amount, also })
    return this.reserveExcess(hold, excess).then((reserved) =>
      this.chargeCovered(hold, charge, { covered: hold.amount + reserved, also }),
    )
  }

  private chargeCovered(
    hold: Hold,
    { cost, priceCardId }: Charge,
    { covered, also }: { readonly covered: NanoUsd; readonly also: Parameters<Ledger['settle']>[2] },
  ): Promise<void> {
    const charged = cost < covered ? cost : covered
    const charge = { cost, charged, writtenOff: cost - charged, priceCardId }
    this.settling = { left: covered - charged, taken: 0n }
    const steps = also(charge)
    const { taken } = this.settling
    this.settling = undefined
    const move = { posted: -charged - taken, held: -covered }
    return this.end(hold, move, [settleStep(hold, charge, Date.now()), ...steps])
  }

  line({ id, accountId, cost, priceCardId, createdAtMs }: FurtherCharge): Settlement & { steps: readonly WriteStep[] } {
    const { settling } = this
    if (!settling) throw new Error('a further line belongs to a settlement')
    const charged = cost < settling.left ? cost : settling.left
    settling.left -= charged
    settling.taken += charged
    const charge = { cost, charged, writtenOff: cost - charged, priceCardId }
    const { writtenOff } = charge
    return { charged, writtenOff, steps: [settledStep({ id, accountId, amount: 0n, createdAtMs }, charge, Date.now())] }
  }

  release(hold: Hold, also: readonly WriteStep[]): Promise<void> {
    if (!this.take(hold)) return this.takeOther(hold).then(() => this.giveBack(hold, also))
    return this.giveBack(hold, also)
  }

  private giveBack(hold: Hold, also: readonly WriteStep[]): Promise<void> {
    const resolve = { run: resolveHold, bind: [hold.id, 'released', Date.now()], changes: 1 }
    return this.end(hold, { posted: 0n, held: -hold.amount }, [resolve, ...also])
  }

  async adjust({ accountId, amount, kind, ref, reason, provided }: Adjustment): Promise<AdjustmentResult> {
    const funds = this.funds.get(accountId)
    if (!funds) return { kind: 'unknown_account' }
    if (amount <= 0n) throw new RangeError('an adjustment must be positive; its kind gives the direction')
    const change = { posted: kind === 'debit' ? -amount : amount, held: 0n }
    // A credit cannot lack funds, although own holds that will be refused may exceed what is known.
    if (change.posted < 0n && this.cannotTake(funds, amount)) return { kind: 'insufficient' }
    // A debit leaves memory before the commit, and a credit enters with it. Memory never promises more than there is.
    if (change.posted < 0n) funds.begin(change)
    const { changes } = this.store
    const steps = [
      ...(provided ? [provided] : []),
      { run: insertBookedJournal, bind: [kind, ref, reason, Date.now()], changes: 1 },
      this.moveStep(accountId, change),
      { run: insertJournalBooking, bind: [accountId, ref], changes: 1 },
      { run: insertJournalEntry, bind: [ref, accountId, change.posted], changes: 1 },
      { run: insertJournalEntry, bind: [ref, FUNDING, -change.posted], changes: 1 },
      // An account that was empty may be used everywhere at once.
      ...changes.announce('account', accountId),
    ]
    const outcome = await this.store.write(steps, changes.lane)
    if (change.posted > 0n) funds.begin(change)
    if (outcome.kind === 'written') {
      funds.written(change, rowOf(outcome))
      return { kind: 'booked' }
    }
    funds.drop(change)
    if (provided && outcome.step === 0) return { kind: 'not_provided' }
    if (violates(outcome, REF_KEY)) return { kind: 'duplicate_ref' }
    return this.adjustmentRefusal(accountId, change.posted, outcome.reason)
  }

  /** Why the store has refused a booking whose reference is new. */
  private async adjustmentRefusal(accountId: string, change: NanoUsd, reason: string): Promise<AdjustmentResult> {
    const refusal = adjustmentRefusal(await this.reader.read(accountId), change)
    // The balance may have changed once more meanwhile.
    if (!refusal && !reason.startsWith('did not change')) this.options.onBroken(`a booking was refused: ${reason}`)
    return { kind: refusal ?? 'insufficient' }
  }

  private cannotTake(funds: KnownFunds, amount: NanoUsd): boolean {
    return funds.balance.available < amount && funds.ageMs <= this.knownMs
  }

  private moveStep(accountId: string, { posted, held }: FundsChange): WriteStep {
    return { run: moveBalance, bind: [accountId, posted, held], changes: 1 }
  }

  /** Holds an amount, if the account's row and the conditions allow it. */
  private async reserve(
    { accountId }: Hold,
    amount: NanoUsd,
    own: readonly WriteStep[],
    conditions: readonly HoldCondition[],
    also: readonly WriteStep[],
  ): Promise<HoldOutcome> {
    const funds = this.of(accountId)
    const change = { posted: 0n, held: amount }
    funds.begin(change)
    const first = [this.moveStep(accountId, change), ...conditions.flatMap(({ steps }) => steps)]
    const outcome = await this.store.write([...first, ...own, ...also])
    if (outcome.kind === 'written') {
      funds.written(change, rowOf(outcome))
      return DURABLE
    }
    funds.drop(change)
    return { kind: 'refused', refusal: await this.refusalOf(accountId, conditions, outcome) }
  }

  private async refusalOf(
    accountId: string,
    conditions: readonly HoldCondition[],
    { step, reason }: Extract<WriteOutcome, { kind: 'refused' }>,
  ): Promise<HoldRefusal> {
    if (step === 0) return { kind: 'insufficient', balance: await this.reader.read(accountId) }
    let end = 1
    for (const { steps, refusal } of conditions) {
      end += steps.length
      if (step > 0 && step < end) return refusal()
    }
    return this.broken(`step ${step}: ${reason}`)
  }

  /** Extends a hold by as much of an excess as the store has. */
  private async reserveExcess(hold: Hold, excess: NanoUsd): Promise<NanoUsd> {
    const { balance } = this.of(hold.accountId)
    // Another instance may have added to a balance that was seen a while ago.
    const mayHaveMore = balance.available < excess && this.isOld(hold.accountId)
    let { available } = mayHaveMore ? await this.reader.read(hold.accountId) : balance
    for (let tries = 0; tries < EXCESS_TRIES && available > 0n; tries++) {
      const amount = excess < available ? excess : available
      const own = [{ run: addExcess, bind: [hold.id, amount], changes: 1 }]
      const outcome = await this.reserve(hold, amount, own, [], [])
      if (outcome.kind === 'durable') return amount
      if (outcome.refusal.kind === 'insufficient') ({ available } = outcome.refusal.balance)
    }
    return 0n
  }

  /** Writes the end of a hold. A refusal means that it was not open, or that the books are broken. */
  private async end({ id, accountId }: Hold, move: FundsChange, steps: readonly WriteStep[]): Promise<void> {
    const funds = this.of(accountId)
    funds.begin(move)
    const outcome = await this.store.write([...steps, this.moveStep(accountId, move)])
    this.ending.delete(id)
    if (outcome.kind === 'written') return funds.written(move, rowOf(outcome))
    funds.drop(move)
    if (outcome.step === 0) throw notOpen(id)
    this.broken(`step ${outcome.step}: ${outcome.reason}`)
  }

  private broken(message: string): never {
    this.options.onBroken(message)
    throw new Error(`the ledger's database refused a decision: ${message}`)
  }

  /** Takes a hold of this process to end it, once. */
  private take({ id }: Hold): boolean {
    if (!this.open.delete(id)) return false
    this.ending.add(id)
    return true
  }

  /** The hold of a task may be that of an instance that died. Then the row says whether it is open. */
  private async takeOther({ id }: Hold): Promise<void> {
    if (this.ending.has(id)) throw notOpen(id)
    this.ending.add(id)
    const [row] = await this.store.query(SELECT_STATE, [id])
    if (row?.['state'] === 'open') return
    this.ending.delete(id)
    throw notOpen(id)
  }

  /** The funds of an account. If they were seen a while ago, they are read again for the next call. */
  private seen(accountId: string): KnownFunds {
    if (this.isOld(accountId)) void this.refresh([accountId]).catch(() => undefined)
    return this.of(accountId)
  }

  whenDecided(accountId: string): Promise<void> {
    return this.of(accountId).whenDecided()
  }

  refresh(accountIds: readonly string[]): Promise<void> {
    return this.reader.refresh(accountIds)
  }

  private of(accountId: string): KnownFunds {
    const funds = this.funds.get(accountId)
    if (!funds) throw new Error(`account ${accountId} is not registered with the ledger`)
    return funds
  }
}

/** The account at the end of the commit. */
const rowOf = ({ rows }: Extract<WriteOutcome, { kind: 'written' }>): Row | undefined => rows?.at(-1)

const notOpen = (id: string): Error => new Error(`hold ${id} is not open`)
