import { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const FOLDER = join(import.meta.dir, 'migrations')
/** Older SQLite can corrupt a WAL database when a checkpoint races a write (fixed in 3.51.3). */
const SQLITE_MIN = [3, 51, 3] as const

class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew'
}

/** How many migrations a database has had: its schema's number. */
export const schemaOf = (db: Database): number =>
  (db.query('PRAGMA user_version').get() as { user_version: number }).user_version

const migrationsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()

/**
 * Brings the database up to date: numbered SQL files, forward only, all of them in one transaction, so that a database
 * that is refused is still one of the version before. Throws DatabaseTooNew when the database is newer than this
 * program, and changes nothing then.
 */
export function migrate(path: string, folder = FOLDER): void {
  withDatabase(path, (db) => migrateOpened(db, folder))
}

/**
 * Migrates a database in use, and keeps it before as it is, in `tollgate.db.schema-<n>` beside it: migrations go
 * forward only, so that file is the way back to the version before. Nothing is kept, and nothing returned, where there
 * is nothing to upgrade.
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

/** From which schema to which, and the file in which the database is as it was. */
export type Upgrade = { readonly from: number; readonly to: number; readonly kept: string }

/** One connection for both: a second one would meet locks that the first has waited for. */
function withDatabase<T>(path: string, use: (db: Database) => T): T {
  const db = new Database(path, { create: true })
  try {
    // A process that was killed may be still on its way out, with its lock on the folder gone already.
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
  if (applied > files.length) {
    throw new DatabaseTooNew(
      `the database is of a newer Tollgate (schema ${applied}, this program knows ${files.length}); nothing was changed`,
    )
  }
  // Only before the first table: what is deleted can be given back to the disk, in steps.
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

/** Waits until a file's bytes, or a folder's names, are on the disk. */
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
