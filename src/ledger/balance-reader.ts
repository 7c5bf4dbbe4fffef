/** Reads balances that other processes change. A crowd of one account shares the queries. */
import type { NanoUsd } from '../domain/money.ts'
import { eachDatabase, isListed, textList } from '../store/sql.ts'
import type { Queryable } from '../store/store.ts'
import type { KnownFunds } from './known-funds.ts'
import type { Balance } from './ledger.ts'

const SELECT_FUNDS = eachDatabase(
  (database) => `SELECT id, posted, held FROM account WHERE ${isListed(database, 'id', '?')}`,
)

export class BalanceReader {
  private readonly store: Queryable
  private readonly fundsOf: (accountId: string) => KnownFunds
  /** The accounts that are read next, that read, and the one that runs or ran last. */
  private readonly wanted = new Set<string>()
  private next: Promise<void> | undefined
  private running: Promise<void> | undefined
  private readonly single = new Map<string, Promise<Balance>>()

  constructor(store: Queryable, fundsOf: (accountId: string) => KnownFunds) {
    this.store = store
    this.fundsOf = fundsOf
  }

  /** Reads balances after this call, and lets memory know them. */
  refresh(accountIds: readonly string[]): Promise<void> {
    for (const id of accountIds) this.wanted.add(id)
    return (this.next ??= this.readAfter(this.running))
  }

  private async readAfter(before: Promise<void> | undefined): Promise<void> {
    await (before ? before.catch(() => undefined) : new Promise(setImmediate))
    const ids = [...this.wanted]
    this.wanted.clear()
    this.running = this.next
    this.next = undefined
    const marks = new Map(ids.map((id) => [id, this.fundsOf(id).mark()]))
    for (const row of await this.store.query(SELECT_FUNDS, [textList(ids)])) {
      const id = row['id'] as string
      this.fundsOf(id).seeSince(marks.get(id), row)
    }
  }

  /** The balance as the store has it, or what is known of it while the store cannot be read. */
  read(accountId: string): Promise<Balance> {
    let reading = this.single.get(accountId)
    if (!reading) this.single.set(accountId, (reading = this.readOne(accountId)))
    return reading
  }

  private async readOne(accountId: string): Promise<Balance> {
    await new Promise(setImmediate)
    this.single.delete(accountId)
    const funds = this.fundsOf(accountId)
    const mark = funds.mark()
    const [row] = await this.store.query(SELECT_FUNDS, [textList([accountId])]).catch(() => [])
    if (!row) return funds.balance
    funds.seeSince(mark, row)
    const [posted, held] = [row['posted'] as NanoUsd, row['held'] as NanoUsd]
    return { posted, held, available: posted - held }
  }
}
