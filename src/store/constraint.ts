/** Violations of the schema as values. A caller learns which constraint a row broke without reading error texts. */
import type { Constraint, ConstraintViolation, WriteOutcome } from './statement.ts'

/** The error of SQLite names the columns: `UNIQUE constraint failed: saved_view.user_id, saved_view.name`. */
const UNIQUE = /^UNIQUE constraint failed: (?<columns>\w+\.\w+(?:, \w+\.\w+)*)$/

/** The violation in an error text of SQLite, or undefined if the text names no unique key. */
export function violationIn(message: string): ConstraintViolation | undefined {
  const columns = UNIQUE.exec(message)?.groups?.['columns']?.split(', ')
  if (!columns) return undefined
  const [table = ''] = columns[0]?.split('.') ?? []
  return { constraint: `${table}(${columns.map((column) => column.slice(table.length + 1)).join(', ')})` }
}

/** Whether a transaction was refused because it would break this constraint. */
export const violates = (outcome: WriteOutcome, constraint: Constraint): boolean =>
  outcome.kind === 'refused' && outcome.violation?.constraint === constraint
