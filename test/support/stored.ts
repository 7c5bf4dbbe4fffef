/** Reads what a gateway has stored without asking the gateway, on either store. The gateway may be dead. */
import { SQL } from 'bun'
import { Database } from 'bun:sqlite'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TEST_STORE } from './gateway.ts'
import { storageOf } from './pair-storage.ts'

/** The rows of a query that both stores understand. Integers of 64 bits are `bigint`. */
export async function storedRows<T>(folder: string, query: string): Promise<T[]> {
  if (TEST_STORE === 'postgres') return inDatabase(folder, async (sql) => [...(await sql.unsafe<T[]>(query))])
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true, safeIntegers: true })
  try {
    return db.query(query).all() as T[]
  } finally {
    db.close()
  }
}

/**
 * Resolves once no hold is open. A process alone ends what its former life has left before it serves. Of a pair, the
 * others end it 20 s after the death.
 */
export async function holdsEnded(folder: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const open = await storedRows(folder, "SELECT id FROM hold WHERE state = 'open' LIMIT 1")
    if (open.length === 0) return
    await Bun.sleep(100)
  }
  throw new Error('a hold is still open')
}

/** Everything in the database as one text, to look for what must not be in it. */
export async function storedText(folder: string): Promise<string> {
  if (TEST_STORE === 'postgres') return inDatabase(folder, textOfTables)
  const names = readdirSync(folder).filter((name) => name.startsWith('tollgate.db'))
  return names.map((name) => readFileSync(join(folder, name), 'latin1')).join('\n')
}

/** The names of the files of images and videos. */
export async function storedFiles(folder: string): Promise<readonly string[]> {
  if (TEST_STORE === 'postgres') return [...(await storageOf(folder)).s3.objects.keys()]
  const blobs = join(folder, 'blobs')
  return existsSync(blobs) ? readdirSync(blobs) : []
}

async function inDatabase<T>(folder: string, read: (sql: SQL) => Promise<T>): Promise<T> {
  const { databaseUrl } = await storageOf(folder)
  const sql = new SQL(databaseUrl, { max: 1, bigint: true })
  try {
    return await read(sql)
  } finally {
    await sql.close()
  }
}

async function textOfTables(sql: SQL): Promise<string> {
  const tables = (await sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`) as { tablename: string }[]
  const texts: string[] = []
  for (const { tablename } of tables) {
    const rows = (await sql.unsafe(`SELECT one::text AS text FROM "${tablename}" one`)) as { text: string }[]
    texts.push(...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}
