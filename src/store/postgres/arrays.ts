/** Writes many values of a column as the text of one array. The text is exact, and the driver encodes no array. */
import type { SqlValue } from '../statement.ts'
import { toBound } from './values.ts'

/** Elements that need quotes: without them, the array would be read differently. */
const QUOTED = /[\\"{},\s]|^$|^null$/i

export function arrayOf(values: readonly SqlValue[]): string {
  return `{${values.map(elementOf).join(',')}}`
}

function elementOf(value: SqlValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return quoted(toBound(value) as string)
  return value instanceof Uint8Array ? `"\\\\x${Buffer.from(value).toString('hex')}"` : String(value)
}

const quoted = (text: string): string => (QUOTED.test(text) ? `"${text.replace(/[\\"]/g, '\\$&')}"` : text)

/** The types of columns by `table.column`, such as `bigint`. */
export type ColumnTypes = ReadonlyMap<string, string>

/** Names the type of each column of the schema. */
export const COLUMN_TYPES = `
  SELECT "table".relname || '.' || attname AS name, format_type(atttypid, NULL) AS type
  FROM pg_attribute JOIN pg_class AS "table" ON "table".oid = attrelid
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped`

/** The source of rows from one array for each column: `unnest($1::text::bigint[], …) AS each (v1, …)`. */
export function rowsFrom(types: readonly string[]): string {
  const arrays = types.map((type, i) => `$${i + 1}::text::${type}[]`)
  return `unnest(${arrays.join(', ')}) AS each (${types.map((_, i) => `v${i + 1}`).join(', ')})`
}
