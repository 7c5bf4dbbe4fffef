/** Statements for many rows at once. The values of a row stand at one place of arrays, one array for each value. */
import type { SqlValue, Statement } from '../statement.ts'
import { arrayOf, rowsFrom } from './arrays.ts'
import { numbered } from './text.ts'

/** The condition that ends the changes of an update, and begins with the value that names the row. */
const WHERE = /\sWHERE (?=(?:\w+\.)?\w+ = each\.v1\b)/
/** A source of rows that an update has already. */
const FROM = /\nFROM [^\n]+$/

/** The text of a statement with `types`, with rows from arrays instead of values. */
export function setFormOf({ sql, postgres = sql, types = [] }: Statement): string {
  const text = numbered(postgres, 'each.v')
  const [head, tail] = text.split(WHERE)
  if (head === undefined || tail === undefined) throw new Error(`no row is named by the first value: ${text}`)
  return `${head}${FROM.test(head) ? ',' : ' FROM'} ${rowsFrom(types)} WHERE ${tail}`
}

/** Values of many rows by their columns, as arrays. */
export class Columns {
  private readonly values: SqlValue[][] = []
  rows = 0

  add(row: readonly SqlValue[]): void {
    for (let i = 0; i < row.length; i++) (this.values[i] ??= []).push(row[i] as SqlValue)
    this.rows++
  }

  arrays(): string[] {
    return this.values.map(arrayOf)
  }
}
