/** Reads balances that other processes change. A crowd of one account shares the queries. */
import type { NanoUsd } from '../domain/money.ts'
import { eachDatabase, isListed, textList } from '../store/sql.ts'
import type { Row } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'
import type { KnownFunds } from './known-funds.ts'
import type { Balance } from './ledger.ts'

const SELECT_FUNDS = eachDatabase(
  (database) => `SELECT id, posted, held FROM account WHERE ${isListed(database, 'id', '?')}`,
)

/** The rows of accounts, by their ids. */
type FundsRows = ReadonlyMap<string, Row>

export class BalanceReader {
  private readonly store: Queryable
  private readonly fundsOf: (accountId: string) => KnownFunds
  /** The accounts that are read next, that read, and the one that runs or ran last. */
  private readonly wanted = new Set<string>()
  private next: Promise<FundsRows> | undefined
  private running: Promise<FundsRows> | undefined

  constructor(store: Queryable, fundsOf: (accountId: string) => KnownFunds) {
    this.store = store
    this.fundsOf = fundsOf
  }

  /** Reads balances after this call, and lets memory know them. */
  async refresh(accountIds: readonly string[]): Promise<void> {
    await this.rowsOf(accountIds)
  }

  /** The balance as the store has it after this call, or what is known of it while the store cannot be read. */
  async read(accountId: string): Promise<Balance> {
    const row = (await this.rowsOf([accountId]).catch(() => undefined))?.get(accountId)
    if (!row) return this.fundsOf(accountId).balance
    const [posted, held] = [row['posted'] as NanoUsd, row['held'] as NanoUsd]
    return { posted, held, available: posted - held }
  }

  private rowsOf(accountIds: readonly string[]): Promise<FundsRows> {
    for (const id of accountIds) this.wanted.add(id)
    return (this.next ??= this.readAfter(this.running))
  }

  private async readAfter(before: Promise<unknown> | undefined): Promise<FundsRows> {
    // The calls of a tick share a query, and so do those that come while another one runs.
    await (before ? before.catch(() => undefined) : new Promise(setImmediate))
    const ids = [...this.wanted]
    this.wanted.clear()
    this.running = this.next
    this.next = undefined
    const marks = new Map(ids.map((id) => [id, this.fundsOf(id).mark()]))
    const rows = new Map(
      (await this.store.query(SELECT_FUNDS, [textList(ids)])).map((row) => [row['id'] as string, row]),
    )
    for (const [id, row] of rows) this.fundsOf(id).seeSince(marks.get(id), row)
    return rows
  }
}
