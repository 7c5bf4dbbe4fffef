/** Copies all rows of a data folder's database into an empty PostgreSQL database, and back. */
import { Database } from 'bun:sqlite'
import type { SQL } from 'bun'
import type { Row, Sql, SqlValue } from '../statement.ts'
import type { Queryable } from '../store.ts'
import { openClient } from './client.ts'
import { rowsOf, toBound } from './values.ts'

/** The tables that both stores have. A row refers only to rows of tables before it. */
export const sharedTables = [
  'account',
  'api_key',
  'user',
  'setup_link',
  'session',
  'saved_view',
  'management_key',
  'audit',
  'hold',
  'journal',
  'entry',
  'booking',
  'redemption_code',
  'provider',
  'model',
  'offer',
  'alias',
  'price_card',
  'price',
  'request_record',
  'refused_request',
  'refused_hour',
  'usage_hour',
  'usage_day',
  'usage_days_until',
  'idempotency',
  'cached_answer',
  'response',
  'video_task',
  'blob',
  'secret_check',
] as const

type Table = (typeof sharedTables)[number]

/** The number of rows copied of each table. */
export type CopiedRows = Readonly<Record<Table, number>>

/** The target has rows. Nothing was written. */
export class TargetNotEmpty extends Error {
  override readonly name = 'TargetNotEmpty'
}

/** A statement of PostgreSQL takes 65,535 values. */
const VALUES_MAX = 30_000
/** A conversation can take megabytes. */
const CHARS_MAX = 8 * 1024 * 1024
const FETCH_ROWS = 500

/** A migration inserts the row of this table. */
const SINGLE_ROW: Table = 'usage_days_until'
const COUNTED: readonly Table[] = ['journal', 'price_card']

/**
 * Copies a SQLite database, which nobody else may use, in one transaction. Both must have the schema of this program.
 * Throws `TargetNotEmpty` if the target has an account, a model or anything else.
 */
export async function copyToPostgres(path: string, url: string): Promise<CopiedRows> {
  const from = new Database(path, { readonly: true, safeIntegers: true })
  const to = openClient(url, 'import', { max: 1 })
  try {
    return await to.begin(async (transaction) => {
      await assertEmpty(async (sql) => rowsOf(await transaction.unsafe(sql)))
      await transaction.unsafe(`DELETE FROM ${SINGLE_ROW}`)
      const copied = await eachTable(async (table) => {
        const columns = await columnsOf(transaction, from, table)
        let count = 0
        for (const rows of inBatches(from, table, columns)) {
          await insertRows(transaction, table, columns, rows)
          count += rows.length
        }
        return count
      })
      for (const table of COUNTED) {
        await transaction.unsafe(
          `SELECT setval(pg_get_serial_sequence('${table}', 'id'), greatest(max(id), 1), max(id) IS NOT NULL) FROM ${table}`,
        )
      }
      return copied
    })
  } finally {
    from.close()
    await to.close()
  }
}

/**
 * Copies one state of the database to a SQLite database that has the schema of this program and nobody else uses.
 * Throws `TargetNotEmpty`.
 */
export async function copyToSqlite(url: string, path: string): Promise<CopiedRows> {
  const from = openClient(url, 'export', { max: 1 })
  const to = new Database(path, { safeIntegers: true })
  try {
    to.exec('PRAGMA foreign_keys = ON; BEGIN IMMEDIATE')
    await assertEmpty(async (sql) => to.query(sql).all() as Row[])
    to.exec(`DELETE FROM ${SINGLE_ROW}`)
    const copied = await from.begin('ISOLATION LEVEL REPEATABLE READ, READ ONLY', (transaction) =>
      eachTable(async (table) => {
        const columns = await columnsOf(transaction, to, table)
        const insert = to.prepare(
          `INSERT INTO ${quoted(table)} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        )
        let count = 0
        await transaction.unsafe(`DECLARE rows NO SCROLL CURSOR FOR ${selectOf(table, columns)}`)
        for (;;) {
          const rows = rowsOf(await transaction.unsafe(`FETCH ${FETCH_ROWS} FROM rows`))
          for (const row of rows) insert.run(...columns.map((column) => row[column] as SqlValue))
          count += rows.length
          if (rows.length < FETCH_ROWS) break
        }
        await transaction.unsafe('CLOSE rows')
        return count
      }),
    )
    to.exec('COMMIT')
    return copied
  } finally {
    // Without a commit, closing takes everything back.
    to.close()
    await from.close()
  }
}

async function eachTable(copy: (table: Table) => Promise<number>): Promise<CopiedRows> {
  const copied: Partial<Record<Table, number>> = {}
  for (const table of sharedTables) copied[table] = await copy(table)
  return copied as CopiedRows
}

async function assertEmpty(query: (sql: string) => Promise<readonly Row[]>): Promise<void> {
  for (const table of sharedTables) {
    if (table === SINGLE_ROW) continue
    const [row] = await query(`SELECT 1 AS one FROM ${quoted(table)} LIMIT 1`)
    if (row) throw new TargetNotEmpty(`the target is in use: its table ${table} has rows`)
  }
}

/** `user` is a word of SQL. */
const quoted = (table: Table): string => `"${table}"`

/** The columns that both stores have. Those that a store computes are left out. */
async function columnsOf(postgres: SQL, sqlite: Database, table: Table): Promise<readonly string[]> {
  const rows = rowsOf(
    await postgres.unsafe(
      `SELECT column_name::text AS name FROM information_schema.columns
       WHERE table_schema = current_schema AND table_name = $1 AND is_generated = 'NEVER'`,
      [table],
    ),
  )
  const own = new Set(rows.map(({ name }) => name))
  return (sqlite.query(`PRAGMA table_xinfo(${quoted(table)})`).all() as { name: string; hidden: bigint }[])
    .filter(({ name, hidden }) => hidden === 0n && own.has(name))
    .map(({ name }) => name)
}

/** Each instance has its own row of an hour. A data folder has one. */
const USAGE_KEY = ['account_id', 'hour', 'key_id', 'model', 'endpoint']

function selectOf(table: Table, columns: readonly string[]): string {
  if (table !== 'usage_hour') return `SELECT ${columns.join(', ')} FROM ${quoted(table)}`
  const sums = columns.map((name) => (USAGE_KEY.includes(name) ? name : `sum(${name})::bigint AS ${name}`))
  return `SELECT ${sums.join(', ')} FROM usage_hour GROUP BY ${USAGE_KEY.join(', ')}`
}

function* inBatches(from: Database, table: Table, columns: readonly string[]): Generator<readonly Row[]> {
  const rowsMax = Math.floor(VALUES_MAX / columns.length)
  let rows: Row[] = []
  let chars = 0
  for (const row of from.query(`SELECT ${columns.join(', ')} FROM ${quoted(table)}`).iterate() as Iterable<Row>) {
    for (const value of Object.values(row)) if (typeof value === 'string') chars += value.length
    rows.push(row)
    if (rows.length < rowsMax && chars < CHARS_MAX) continue
    yield rows
    rows = []
    chars = 0
  }
  if (rows.length > 0) yield rows
}

async function insertRows(to: SQL, table: Table, columns: readonly string[], rows: readonly Row[]): Promise<void> {
  const tuples = rows.map((_, at) => `(${columns.map((_column, i) => `$${at * columns.length + i + 1}`).join(', ')})`)
  const values = rows.flatMap((row) => columns.map((column) => toBound(row[column] as SqlValue)))
  await to.unsafe(`INSERT INTO ${quoted(table)} (${columns.join(', ')}) VALUES ${tuples.join(', ')}`, values)
}

/** Sums dollars and fractions separately. A sum of all amounts in nano-USD may exceed 64 bits. */
const sumOf = (amount: string, type: string): string =>
  `CAST(coalesce(sum(${amount} / 1000000000), 0) AS ${type}) AS ${amount}_dollars,
   CAST(coalesce(sum(${amount} % 1000000000), 0) AS ${type}) AS ${amount}_rest`
const holdSums = (type: string): string =>
  `SELECT state, count(*) AS holds, ${['amount', 'cost', 'settled'].map((amount) => sumOf(amount, type)).join(', ')}
   FROM hold GROUP BY state ORDER BY state`
const compared: Readonly<Record<string, Sql>> = {
  balances: 'SELECT id, posted, held FROM account ORDER BY id',
  holds: { sqlite: holdSums('INTEGER'), postgres: holdSums('bigint') },
}

/** The part in which a database and its copy differ, or undefined if every balance and every sum is the same. */
export async function differingPart(one: Queryable, other: Queryable): Promise<string | undefined> {
  for (const [part, sql] of Object.entries(compared)) {
    const both = await Promise.all([one.query(sql), other.query(sql)])
    const [left, right] = both.map((rows) => rows.map((row) => Object.values(row)))
    if (!Bun.deepEquals(left, right)) return part
  }
  return undefined
}
