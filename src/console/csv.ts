/** Rows as a file for spreadsheets (RFC 4180). */
import { safeText } from '../lib/primitives/safe-text.ts'

type Cell = string | number | null | undefined

/** What spreadsheets take for the start of a formula: also in full width, and after what they do not show. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/

/** A text that a spreadsheet would take for a formula gets a quote before it: names are their owners' to choose. */
function cellText(value: Cell): string {
  const text = value === null || value === undefined ? '' : safeText(String(value))
  const safe = FORMULA.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

type Rows = readonly Readonly<Record<string, Cell>>[]

export const csvText = (columns: readonly string[], rows: Rows): string =>
  `${columns.join(',')}\r\n${csvRows(columns, rows)}`

/** The rows alone, each with its end: of a file that is made in pieces. */
export const csvRows = (columns: readonly string[], rows: Rows): string =>
  rows.map((row) => `${columns.map((column) => cellText(row[column])).join(',')}\r\n`).join('')
