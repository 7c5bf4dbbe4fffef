/** SQL of which few words differ between the databases. */
import type { Row, Sql } from './statement.ts'

export type SqlDatabase = 'sqlite' | 'postgres'

/** A text for each database. `write` is called with the database that its text is for. */
export const eachDatabase = (write: (database: SqlDatabase) => string): Sql => ({
  sqlite: write('sqlite'),
  postgres: write('postgres'),
})

/** The texts of a JSON array. The client would write a value of the type jsonb as JSON once more. */
const elementsOf = (value: string): string => `jsonb_array_elements_text(CAST(CAST(${value} AS text) AS jsonb))`

/** The condition that a column has one of the texts of a list. `value` stands for the list, which `textList` makes. */
export const isListed = (database: SqlDatabase, column: string, value: string): string =>
  database === 'sqlite'
    ? `${column} IN (SELECT value FROM json_each(${value}))`
    : `${column} = ANY (ARRAY(SELECT ${elementsOf(value)}))`

/** A join whose left side SQLite reads first. PostgreSQL has no such hint, and chooses by its statistics. */
export const joinInOrder = (database: SqlDatabase): string => (database === 'sqlite' ? 'CROSS JOIN' : 'JOIN')

/** A list of texts as one value. PostgreSQL has no text with a zero character or half a pair of surrogates. */
export const textList = (texts: readonly string[]): string =>
  JSON.stringify(texts.map((text) => text.toWellFormed().replaceAll('\0', '\ufffd')))

/**
 * Where a row is, as `place`, and the rows that are at one of the places of a list, which `placesOf` makes. A row that
 * changes may move, so a statement that uses places states what else is true of its rows, and how many they are.
 */
export const placeColumn = (database: SqlDatabase): string =>
  database === 'sqlite' ? 'rowid AS place' : 'CAST(ctid AS text) AS place'
export const isPlaced = (database: SqlDatabase, value: string): string =>
  database === 'sqlite'
    ? `rowid IN (SELECT value FROM json_each(${value}))`
    : `ctid = ANY (ARRAY(SELECT CAST(place AS tid) FROM ${elementsOf(value)} AS place))`
export const placesOf = (rows: readonly Row[]): string =>
  JSON.stringify(rows.map(({ place = null }) => (typeof place === 'bigint' ? Number(place) : place)))
