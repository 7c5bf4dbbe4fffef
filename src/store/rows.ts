/** What the transactions of a commit add to the same tables, gathered so that many rows are one statement. */
import type { Database, Statement as Prepared } from 'bun:sqlite'
import { bindOf, type WireStep } from './wire.ts'
import type { SqlValue } from './statement.ts'

/** In one statement. Each power of two up to it is prepared when it is needed first. */
const ROWS_MAX = 64

export class Rows {
  private readonly tables = new Map<number, Table>()

  /** `sql` ends with `tuple`, the values of one row. */
  define(db: Database, slot: number, { sql, tuple }: { readonly sql: string; readonly tuple: string }): void {
    this.tables.set(slot, new Table(db, sql.slice(0, -tuple.length), tuple))
  }

  /** Whether it is a step that adds a row, and was kept for later. */
  take(step: WireStep): boolean {
    const table = this.tables.get(step[0])
    table?.steps.push(step)
    return table !== undefined
  }

  /** Writes what was taken since `clear`. Throws what SQLite has against one of the rows. */
  write(): void {
    for (const table of this.tables.values()) table.write()
  }

  clear(): void {
    for (const table of this.tables.values()) table.steps.length = 0
  }

  finalize(): void {
    for (const table of this.tables.values()) table.finalize()
  }
}

class Table {
  readonly steps: WireStep[] = []
  private readonly db: Database
  private readonly into: string
  private readonly tuple: string
  private readonly prepared = new Map<number, Prepared>()

  constructor(db: Database, into: string, tuple: string) {
    this.db = db
    this.into = into
    this.tuple = tuple
  }

  write(): void {
    const { steps } = this
    let count = ROWS_MAX
    for (let at = 0; at < steps.length; at += count) {
      while (count > steps.length - at) count /= 2
      const values: SqlValue[] = []
      for (let i = at; i < at + count; i++) values.push(...bindOf(steps[i] as WireStep))
      const { changes } = this.preparedFor(count).run(...values)
      if (changes !== count) throw new Error(`added ${changes} rows instead of ${count}`)
    }
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
