/** The schema of PostgreSQL, by numbered files. Several instances may start at once. */
import type { SQL } from 'bun'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseTooNew } from '../migrate.ts'
import { openClient } from './client.ts'

const FOLDER = join(import.meta.dir, 'migrations')

/** Any number that no other program in the database uses for an advisory lock. */
const LOCK = 7_468_655_217

const migrationsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()

/**
 * Upgrades the database. Migrations only go forward, and all run in one transaction, so a failed upgrade leaves the
 * previous version. Of several instances that start at once, one upgrades and the others wait.
 *
 * Migrations only add tables and columns, so the previous release keeps working during an update, and may start again.
 * A migration that breaks old programs sets `schema_version.oldest` to its number. Those programs then get
 * `DatabaseTooNew`, and nothing is changed.
 */
export async function migratePostgres(sql: SQL, folder = FOLDER): Promise<void> {
  const files = migrationsIn(folder)
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(${LOCK})`)
    await transaction.unsafe(CREATE_VERSION).simple()
    const [row] = (await transaction.unsafe('SELECT version, oldest FROM schema_version')) as Version[]
    const applied = Number(row?.version ?? 0)
    if (row && Number(row.oldest) > files.length) throw new DatabaseTooNew(applied, files.length)
    if (applied >= files.length) return
    if (!row) await transaction.unsafe('INSERT INTO schema_version VALUES (0, 1)').simple()
    for (const file of files.slice(applied)) await transaction.unsafe(readFileSync(join(folder, file), 'utf8')).simple()
    await transaction.unsafe(`UPDATE schema_version SET version = ${files.length}`).simple()
  })
}

type Version = { readonly version: bigint; readonly oldest: bigint }

const CREATE_VERSION =
  'CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL, oldest bigint NOT NULL DEFAULT 1)'

/** How many migrations a database has had, and how many this program knows. It changes nothing. */
export async function postgresSchema(url: string): Promise<{ readonly applied: number; readonly known: number }> {
  const sql = openClient(url, 'schema', { max: 1 })
  try {
    const [table] = (await sql`SELECT to_regclass('schema_version') IS NOT NULL AS exists`) as { exists: boolean }[]
    const [row] = table?.exists ? ((await sql`SELECT version FROM schema_version`) as Version[]) : []
    return { applied: Number(row?.version ?? 0), known: migrationsIn(FOLDER).length }
  } finally {
    await sql.close()
  }
}
