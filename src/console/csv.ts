/** Rows as a file for spreadsheets (RFC 4180). */
import { safeText } from '../lib/primitives/safe-text.ts'

type Cell = string | number | null | undefined

/** What spreadsheets take for the start of a formula, also in full width and after invisible characters. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/

/** Puts a quote before a text that a spreadsheet would take for a formula, because users choose names freely. */
function cellText(value: Cell): string {
  const text = value === null || value === undefined ? '' : safeText(String(value))
  const safe = FORMULA.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

type Rows = readonly Readonly<Record<string, Cell>>[]

export const csvText = (columns: readonly string[], rows: Rows): string =>
  `${columns.join(',')}\r\n${csvRows(columns, rows)}`

/** The rows without the header, each with its line end, for a file that is made in pieces. */
export const csvRows = (columns: readonly string[], rows: Rows): string =>
  rows.map((row) => `${columns.map((column) => cellText(row[column])).join(',')}\r\n`).join('')
