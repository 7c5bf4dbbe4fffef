/** What the queries of a batch return, and what its transactions get of it. */
import type { Row, SqlValue, WriteOutcome } from '../statement.ts'

/** A query with its values. */
export type BatchQuery = {
  readonly text: string
  readonly bind: readonly SqlValue[]
  readonly returns?: readonly ReturnedRow[]
}

/** A row that a query returns, and the transactions of the batch that get it. */
export type ReturnedRow = {
  readonly tells: readonly number[]
  readonly columns: readonly string[]
  /** Its place in a query that returns several. */
  readonly part?: number
}

/** The outcomes that are more than plainly written, by the places of their transactions. */
export type Outcomes = ReadonlyMap<number, WriteOutcome>

/** The name of a column in a query that returns several rows as one. */
export const columnOfPart = (part: number, column: string): string => `${column}_${part}`

/** A row that a query has returned. */
export function returnedRow(
  { columns, part }: Pick<ReturnedRow, 'columns' | 'part'>,
  rows: readonly unknown[],
): Row | undefined {
  const [row] = rows as readonly Row[]
  const nameOf = (name: string): string => (part === undefined ? name : columnOfPart(part, name))
  return row && Object.fromEntries(columns.map((name) => [name, row[nameOf(name)] ?? null]))
}

/** Gives each transaction the rows that its statements have returned. */
export function outcomesOf(queries: readonly BatchQuery[], results: readonly (readonly unknown[])[]): Outcomes {
  const rows = new Map<number, readonly Row[]>()
  for (const [i, { returns = [] }] of queries.entries()) {
    for (const returned of returns) {
      const row = returnedRow(returned, results[i] ?? [])
      if (!row) continue
      for (const tx of returned.tells) rows.set(tx, [...(rows.get(tx) ?? []), row])
    }
  }
  return new Map([...rows].map(([tx, told]) => [tx, { kind: 'written', rows: told }]))
}
