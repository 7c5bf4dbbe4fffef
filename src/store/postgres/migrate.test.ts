import { SQL } from 'bun'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestPostgres, type TestDatabase } from '../../../test/support/postgres.ts'
import { DatabaseTooNew } from '../migrate.ts'
import { migratePostgres } from './migrate.ts'
import { openPostgresStore } from './store.ts'

const MIGRATIONS = join(import.meta.dir, 'migrations')
const ours = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql')).length

let database: TestDatabase
let sql: SQL
/** The migrations of the next release. */
let next: string
beforeEach(async () => {
  database = await openTestPostgres()
  sql = new SQL(database.url, { max: 1, bigint: true })
  next = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'))
  cpSync(MIGRATIONS, next, { recursive: true })
})
afterEach(async () => {
  await sql.close()
  await database.close()
  rmSync(next, { recursive: true })
})

const addMigration = (text: string): void =>
  writeFileSync(join(next, `${String(ours + 1).padStart(4, '0')}_next.sql`), text)
const version = async (): Promise<unknown> => (await sql`SELECT version, oldest FROM schema_version`)[0]

const errorOf = (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(() => undefined).catch((error: unknown) => error)

async function openStore(): Promise<void> {
  const onFatal = (message: string): never => {
    throw new Error(message)
  }
  const store = await openPostgresStore(database.url, { folder: next, onFatal })
  expect(await store.query('SELECT count(*) AS accounts FROM account')).toEqual([{ accounts: 0n }])
  await store.close()
}

test('the release before goes on, and starts again, after a migration that adds', async () => {
  await migratePostgres(sql)
  addMigration('ALTER TABLE account ADD COLUMN fresh text; CREATE TABLE fresh (id text)')
  await migratePostgres(sql, next)
  const after = { version: BigInt(ours + 1), oldest: 1n }
  expect(await version()).toEqual(after)
  await openStore()
  expect(await version()).toEqual(after)
})

test('a release that a migration excludes is refused, and changes nothing', async () => {
  addMigration(`UPDATE schema_version SET oldest = ${ours + 1}`)
  await migratePostgres(sql, next)
  expect(await errorOf(openStore())).toBeInstanceOf(DatabaseTooNew)
  expect(await version()).toEqual({ version: BigInt(ours + 1), oldest: BigInt(ours + 1) })
  await migratePostgres(sql, next)
})

test('a migration that fails leaves the database as it was', async () => {
  await migratePostgres(sql)
  addMigration('CREATE TABLE fresh (id text); INSERT INTO nowhere VALUES (1)')
  expect(String(await errorOf(migratePostgres(sql, next)))).toContain('nowhere')
  expect(await version()).toEqual({ version: BigInt(ours), oldest: 1n })
  expect((await sql`SELECT to_regclass('fresh') IS NULL AS gone`)[0]).toEqual({ gone: true })
})
