/** The schema of PostgreSQL, by numbered files. Several instances may start at once. */
import type { SQL } from 'bun'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseTooNew } from '../migrate.ts'

const FOLDER = join(import.meta.dir, 'migrations')

/** Any number that no other program in the database uses for an advisory lock. */
const LOCK = 7_468_655_217

/**
 * Upgrades the database. Migrations only go forward, and all run in one transaction, so a failed upgrade leaves the
 * previous version. Of several instances that start at once, one upgrades and the others wait. Throws `DatabaseTooNew`
 * and changes nothing when the database is newer than this program.
 */
export async function migratePostgres(sql: SQL, folder = FOLDER): Promise<void> {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(${LOCK})`)
    await transaction.unsafe('CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)').simple()
    const [row] = (await transaction.unsafe('SELECT version FROM schema_version')) as { version: bigint }[]
    const applied = Number(row?.version ?? 0)
    if (applied > files.length) throw new DatabaseTooNew(applied, files.length)
    if (applied === files.length) return
    for (const file of files.slice(applied)) await transaction.unsafe(readFileSync(join(folder, file), 'utf8')).simple()
    await transaction.unsafe(`DELETE FROM schema_version; INSERT INTO schema_version VALUES (${files.length})`).simple()
  })
}
