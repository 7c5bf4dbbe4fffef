/** SQL texts in the form that PostgreSQL takes. */
import type { Sql, Statement } from '../statement.ts'

/** The text for PostgreSQL, with the values as they are written for both databases. */
export const postgresText = (sql: Sql): string => (typeof sql === 'string' ? sql : sql.postgres)

const texts: string[] = []

/** The text of a statement with the values as `$n`. It is made when the statement is first used. */
export const textOfStatement = ({ slot, sql, postgres = sql }: Statement): string =>
  (texts[slot] ??= numbered(postgres))

/** A text in quotes, a name in quotes, a comment, or a value as `?` or `?1`. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\?(?<number>\d*)/g

/** Writes each value as `$n`, or with another mark. As in SQLite, `?` is the value after the last one so far. */
export function numbered(sql: string, mark = '$'): string {
  let last = 0
  return sql.replace(TOKEN, (token: string, number: string | undefined) => {
    if (number === undefined) return token
    const at = number === '' ? last + 1 : Number(number)
    last = Math.max(last, at)
    return `${mark}${at}`
  })
}
