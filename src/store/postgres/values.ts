/** Values and rows of PostgreSQL as those of SQLite: the folders above see no difference. */
import type { SQL } from 'bun'
import type { Row, SqlValue } from '../statement.ts'

/** PostgreSQL refuses this character in a text. */
const NUL = /\0/g
const REPLACEMENT = '\uFFFD'

/**
 * A value to bind. Integers go as bigint, because the client would send a large number as a floating-point value, with
 * which PostgreSQL compares inexactly and without an index.
 */
export function toBound(value: SqlValue): SqlValue {
  if (typeof value === 'string') return value.includes('\0') ? value.replace(NUL, REPLACEMENT) : value
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}

/** The numbers of types in the catalog of PostgreSQL. They are the same in every database. */
const TYPE = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, float4: 700, float8: 701, varchar: 1043 }
const UNKNOWN = 705
const asIs = (value: SqlValue): SqlValue => value

/** How the client's value of a type becomes that of SQLite. */
const readers: ReadonlyMap<number, (value: never) => SqlValue> = new Map<number, (value: never) => SqlValue>([
  [TYPE.bool, (value: boolean) => (value ? 1n : 0n)],
  [TYPE.bytea, (value: Buffer) => new Uint8Array(value)],
  [TYPE.int8, asIs],
  [TYPE.int2, (value: number) => BigInt(value)],
  [TYPE.int4, (value: number) => BigInt(value)],
  [TYPE.float4, asIs],
  [TYPE.float8, asIs],
  [TYPE.text, asIs],
  [TYPE.varchar, asIs],
  [UNKNOWN, asIs],
])

/**
 * The rows of a result. Throws for a column of a type that SQLite does not have, such as the numeric of a sum. The text
 * of the query must then cast it.
 */
export function rowsOf(result: Result): readonly Row[] {
  for (const { name, type } of result.columns ?? []) {
    const read = readers.get(type)
    if (!read) throw new Error(`the column ${name} has type ${type} of PostgreSQL; cast it in the text of the query`)
    if (read === asIs) continue
    for (const row of result) if (row[name] !== null) row[name] = read(row[name] as never)
  }
  return result
}

type Result = SQL.ResultMetadata & Record<string, SqlValue>[]
