/** What the transactions of a commit add to the same tables, gathered so that many rows are one statement. */
import type { Database, Statement as Prepared } from 'bun:sqlite'
import { fromWire, STEP_HEAD, stepEnd, type WireTx, type WireValue } from './wire.ts'
import type { SqlValue } from './statement.ts'

/** In one statement. Each power of two up to it is prepared when it is needed first. */
const ROWS_MAX = 64

export class Rows {
  private readonly tables = new Map<number, Table>()

  /** `sql` ends with `tuple`, the values of one row. */
  define(db: Database, slot: number, { sql, tuple }: { readonly sql: string; readonly tuple: string }): void {
    this.tables.set(slot, new Table(db, sql.slice(0, -tuple.length), tuple))
  }

  /** Whether the step at `at` adds a row, and was kept for later. */
  take(tx: WireTx, at: number): boolean {
    const table = this.tables.get(tx[at] as number)
    table?.take(tx, at)
    return table !== undefined
  }

  /** Writes what was taken since `clear`. Throws what SQLite has against one of the rows. */
  write(): void {
    for (const table of this.tables.values()) table.write()
  }

  clear(): void {
    for (const table of this.tables.values()) table.clear()
  }

  finalize(): void {
    for (const table of this.tables.values()) table.finalize()
  }
}

class Table {
  private readonly db: Database
  private readonly into: string
  private readonly tuple: string
  private readonly prepared = new Map<number, Prepared>()
  private count = 0
  /** Those of all rows, one behind the other: a statement of a row has as many in every step. */
  private values: SqlValue[] = []

  constructor(db: Database, into: string, tuple: string) {
    this.db = db
    this.into = into
    this.tuple = tuple
  }

  take(tx: WireTx, at: number): void {
    this.count++
    for (let i = at + STEP_HEAD, end = stepEnd(tx, at); i < end; i++) this.values.push(fromWire(tx[i] as WireValue))
  }

  write(): void {
    const { count, values } = this
    const width = values.length / count
    let rows = ROWS_MAX
    for (let at = 0; at < count; at += rows) {
      while (rows > count - at) rows /= 2
      const { changes } = this.preparedFor(rows).run(...values.slice(at * width, (at + rows) * width))
      if (changes !== rows) throw new Error(`added ${changes} rows instead of ${rows}`)
    }
  }

  clear(): void {
    this.count = 0
    this.values = []
  }

  private preparedFor(count: number): Prepared {
    let made = this.prepared.get(count)
    if (!made) {
      made = this.db.prepare(this.into + Array.from({ length: count }, () => this.tuple).join(', '))
      this.prepared.set(count, made)
    }
    return made
  }

  finalize(): void {
    for (const made of this.prepared.values()) made.finalize()
  }
}
