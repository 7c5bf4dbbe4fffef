/** Combines rows of one table. Rows that the transactions of a commit insert become one statement. */
import type { Database, Statement as Prepared } from 'bun:sqlite'
import { fromWire, STEP_HEAD, stepEnd, type WireTx, type WireValue } from './wire.ts'
import type { SqlValue } from './statement.ts'

/** The maximum of rows in one statement. Statements for each power of two up to it are prepared when first needed. */
const ROWS_MAX = 64

export class Rows {
  private readonly tables = new Map<number, Table>()

  /** The text of `sql` ends with `tuple`, the values of one row. */
  define(db: Database, slot: number, { sql, tuple }: { readonly sql: string; readonly tuple: string }): void {
    this.tables.set(slot, new Table(db, sql.slice(0, -tuple.length), tuple))
  }

  /** Keeps the step at `at` for later if it inserts a row. Returns whether it did. */
  take(tx: WireTx, at: number): boolean {
    const table = this.tables.get(tx[at] as number)
    table?.take(tx, at)
    return table !== undefined
  }

  /** Writes the rows kept since `clear`. Throws the error of SQLite for any of them. */
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
  /** The values of all rows in sequence. Every row has the same number of values. */
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
