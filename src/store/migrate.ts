import { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const FOLDER = join(import.meta.dir, 'migrations')
/** An older SQLite can corrupt a WAL database when a checkpoint races a write (fixed in 3.51.3). */
const SQLITE_MIN = [3, 51, 3] as const

export class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew'

  constructor(schema: number, known: number) {
    super(`the database is of a newer Tollgate (schema ${schema}, this program knows ${known}); nothing was changed`)
  }
}

/** The number of migrations that a database has had, which is the number of its schema. */
export const schemaOf = (db: Database): number =>
  (db.query('PRAGMA user_version').get() as { user_version: number }).user_version

const migrationsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()

/**
 * Upgrades the database by numbered SQL files. Migrations only go forward, and all run in one transaction, so a failed
 * upgrade leaves the previous version. Throws `DatabaseTooNew` and changes nothing when the database is newer than this
 * program.
 */
export function migrate(path: string, folder = FOLDER): void {
  withDatabase(path, (db) => migrateOpened(db, folder))
}

/**
 * Migrates a database in use. The previous state is kept beside it as `tollgate.db.schema-<n>`. Migrations only go
 * forward, so that file is the way back to the previous version. If there is nothing to upgrade, nothing is kept and
 * undefined is returned.
 */
export function upgrade(path: string, folder = FOLDER): Upgrade | undefined {
  return withDatabase(path, (db) => {
    const from = schemaOf(db)
    const to = migrationsIn(folder).length
    const kept = `${path}.schema-${from}`
    const isOlder = from > 0 && from < to
    if (isOlder) keep(db, path, kept)
    migrateOpened(db, folder)
    return isOlder ? { from, to, kept } : undefined
  })
}

/** The schema before and after, and the file with the previous state. */
export type Upgrade = { readonly from: number; readonly to: number; readonly kept: string }

/** One connection serves both. A second one would meet locks that the first has already waited for. */
function withDatabase<T>(path: string, use: (db: Database) => T): T {
  const db = new Database(path, { create: true })
  try {
    // A process that was killed may still be exiting after its lock on the folder is gone.
    db.exec('PRAGMA busy_timeout = 5000')
    assertSqliteVersion(db)
    return use(db)
  } finally {
    db.close()
  }
}

function migrateOpened(db: Database, folder: string): void {
  const files = migrationsIn(folder)
  const applied = schemaOf(db)
  if (applied > files.length) throw new DatabaseTooNew(applied, files.length)
  // This must come before the first table. With it, the space of deleted rows can be returned to the disk in steps.
  if (applied === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL')
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  if (applied === files.length) return
  db.transaction(() => {
    files.slice(applied).forEach((file, i) => {
      db.exec(`${readFileSync(join(folder, file), 'utf8')}\nPRAGMA user_version = ${applied + i + 1};`)
    })
  }).immediate()
}

function keep(db: Database, path: string, kept: string): void {
  const unfinished = `${kept}.tmp`
  rmSync(unfinished, { force: true })
  closeSync(openSync(unfinished, 'wx', 0o600))
  db.prepare('VACUUM INTO ?').run(unfinished)
  syncPath(unfinished)
  renameSync(unfinished, kept)
  syncPath(dirname(path))
}

/** Waits until the contents of a file, or the names in a folder, are on the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function assertSqliteVersion(db: Database): void {
  const { version } = db.query('SELECT sqlite_version() AS version').get() as { version: string }
  const parts = version.split('.').map(Number)
  for (const [i, least] of SQLITE_MIN.entries()) {
    const part = parts[i] ?? 0
    if (part > least) return
    if (part < least) throw new Error(`SQLite ${version} is too old: ${SQLITE_MIN.join('.')} or later is needed`)
  }
}
