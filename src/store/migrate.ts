import { Database } from 'bun:sqlite'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dir, 'migrations')
/** Older SQLite can corrupt a WAL database when a checkpoint races a write (fixed in 3.51.3). */
const SQLITE_MIN = [3, 51, 3] as const

/**
 * Brings the database up to date: numbered SQL files, forward only, each in a transaction of its own. Throws when the
 * database is newer than this program.
 */
export function migrate(path: string): void {
  const db = new Database(path, { create: true })
  try {
    // A process that was killed may be still on its way out, with its lock on the folder gone already.
    db.exec('PRAGMA busy_timeout = 5000')
    assertSqliteVersion(db)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    const files = readdirSync(FOLDER)
      .filter((name) => /^\d{4}_.*\.sql$/.test(name))
      .sort()
    const { user_version: applied } = db.query('PRAGMA user_version').get() as { user_version: number }
    if (applied > files.length) {
      throw new Error(`the database is of a newer Tollgate (schema ${applied}, this program knows ${files.length})`)
    }
    files.slice(applied).forEach((file, i) => {
      const sql = readFileSync(join(FOLDER, file), 'utf8')
      db.transaction(() => db.exec(`${sql}\nPRAGMA user_version = ${applied + i + 1};`)).immediate()
    })
  } finally {
    db.close()
  }
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
