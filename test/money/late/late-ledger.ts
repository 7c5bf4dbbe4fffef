/**
 * A ledger that decides when it writes, as one that several instances share does. `hold` and `extend` answer by what
 * they know, and `durable` resolves to the decision later. The orders of the test say when it refuses, and why. The
 * books behind it are the real ones, which a refused hold never reaches.
 */
import { readFileSync } from 'node:fs'
import type {
  Adjustment,
  AdjustmentResult,
  Balance,
  Charge,
  ExtendResult,
  FurtherCharge,
  Hold,
  HoldCondition,
  HoldOutcome,
  HoldRefusal,
  HoldRequest,
  HoldResult,
  Ledger,
  Settlement,
} from '../../../src/ledger/ledger.ts'

export type Orders = {
  /** Why holds are refused. Without it they are accepted. */
  readonly hold?: HoldRefusal['kind']
  /** Why extensions are refused. */
  readonly extension?: 'insufficient' | 'limited'
  /** The part of the holds and extensions that the orders above are for. All of them if left out. */
  readonly share?: number
  readonly isSure: boolean
  /** How long the store takes. */
  readonly delayMs: number
}

const VIOLATION = { kind: 'concurrency', scope: 'key', limit: 7 } as const

/** Wraps a ledger. `file` has the orders, which may change at any time. */
export class LateLedger implements Ledger {
  readonly decides = 'when_written'
  private readonly inner: Ledger
  private readonly file: string
  /** What is held and not yet decided. */
  private readonly undecided = new Map<Hold, bigint>()

  constructor(inner: Ledger, file: string) {
    this.inner = inner
    this.file = file
  }

  hold(request: HoldRequest): HoldResult {
    const { id, accountId, amount, createdAtMs = Date.now() } = request
    const balance = this.balance(accountId)
    if (balance.available < amount) return { kind: 'insufficient', balance }
    const { hold: ordered, share = 1, isSure, delayMs } = this.orders
    const hold: Hold = { id, accountId, amount, createdAtMs }
    const conditions = request.conditions ?? []
    const hasKey = conditions.some((condition) => !condition.isSure)
    const isRefused = ordered !== undefined && Math.random() < share && (ordered !== 'key_taken' || hasKey)
    const durable = this.decided(hold, amount, delayMs, async () => {
      if (isRefused) return refused(this.refusalOf(ordered, accountId))
      const held = this.inner.hold({ ...request, createdAtMs, written: 'now' })
      return held.kind === 'held' ? held.durable : refused(held)
    })
    return { kind: 'held', hold, isSure: isSure && conditions.every((condition) => condition.isSure), durable }
  }

  extend(hold: Hold, amount: bigint, conditions?: readonly HoldCondition[]): ExtendResult {
    const { available } = this.balance(hold.accountId)
    if (!this.isOpen(hold) || available < amount) return { kind: 'insufficient' }
    const { extension, share = 1, delayMs } = this.orders
    const isRefused = extension !== undefined && Math.random() < share
    const mark = { ...hold }
    const durable = this.decided(mark, amount, delayMs, async () => {
      if (isRefused) return refused(this.refusalOf(extension, hold.accountId))
      const extended = this.inner.extend(hold, amount, conditions)
      if (extended.kind === 'held') return extended.durable
      return refused(this.refusalOf('insufficient', hold.accountId))
    })
    return { kind: 'held', durable }
  }

  settle(hold: Hold, charge: Charge, also: Parameters<Ledger['settle']>[2]): Promise<void> {
    this.expectDurable(hold)
    return this.inner.settle(hold, charge, also)
  }

  release(hold: Hold, also: Parameters<Ledger['release']>[1]): Promise<void> {
    this.expectDurable(hold)
    return this.inner.release(hold, also)
  }

  balance(accountId: string): Balance {
    const { posted, held } = this.inner.balance(accountId)
    let all = held
    for (const [hold, amount] of this.undecided) if (hold.accountId === accountId) all += amount
    return { posted, held: all, available: posted - all }
  }

  whenDecided(): undefined {
    return undefined
  }

  refresh(accountIds: readonly string[]): Promise<void> | undefined {
    return this.inner.refresh(accountIds)
  }

  isOutdated(accountId: string): boolean {
    return this.inner.isOutdated(accountId)
  }

  isEmpty(accountId: string): boolean {
    return this.inner.isEmpty(accountId)
  }

  register(accountId: string): void {
    this.inner.register(accountId)
  }

  line(line: FurtherCharge): Settlement & ReturnType<Ledger['line']> {
    return this.inner.line(line)
  }

  adjust(adjustment: Adjustment): Promise<AdjustmentResult> {
    return this.inner.adjust(adjustment)
  }

  openHolds(): number {
    return this.inner.openHolds() + this.undecided.size
  }

  isOpen(hold: Hold): boolean {
    return this.undecided.has(hold) || this.inner.isOpen(hold)
  }

  private get orders(): Orders {
    return JSON.parse(readFileSync(this.file, 'utf8')) as Orders
  }

  /** The decision, once the store has made it. Until then the amount counts as held. */
  private async decided(
    hold: Hold,
    amount: bigint,
    delayMs: number,
    decide: () => Promise<HoldOutcome>,
  ): Promise<HoldOutcome> {
    this.undecided.set(hold, amount)
    await Bun.sleep(delayMs)
    this.undecided.delete(hold)
    return decide()
  }

  private expectDurable(hold: Hold): void {
    if (this.undecided.has(hold)) throw new Error(`hold ${hold.id} is ended before it is decided`)
  }

  private refusalOf(kind: HoldRefusal['kind'], accountId: string): HoldRefusal {
    switch (kind) {
      case 'insufficient':
        return { kind, balance: this.inner.balance(accountId) }
      case 'limited':
        return { kind, violation: VIOLATION }
      case 'key_taken':
        return { kind }
    }
  }
}

const refused = (refusal: HoldRefusal): HoldOutcome => ({ kind: 'refused', refusal })
