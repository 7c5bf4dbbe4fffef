/** Whole copies of a database, and the manifest of a backup. */
import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import { StoreReader } from './reader.ts'

/**
 * Writes a consistent copy of a database in use to a file that must not exist. It runs on its own connection and
 * thread. In WAL mode a reader stops no writer. Rows written during the copy are not in it, and the log grows by them.
 * Rejects when the disk is full. The copy is not synced.
 */
export async function copyDatabase(path: string, to: string): Promise<void> {
  // The file is made empty first, which SQLite accepts, so that others can never read the copy.
  closeSync(openSync(to, 'wx', 0o600))
  const reader = new StoreReader()
  await reader.open(path, 'last')
  try {
    // A database from before this setting also gets a copy that can shrink.
    const [mode] = await reader.query('PRAGMA auto_vacuum')
    if (Number(mode?.['auto_vacuum']) === 0) await reader.query('PRAGMA auto_vacuum = INCREMENTAL')
    await reader.query('VACUUM INTO ?', [to])
  } finally {
    await reader.close()
  }
}

/** Opens a database that nobody else uses, on a thread of its own. */
export async function openCopy(path: string): Promise<Pick<StoreReader, 'query' | 'close'>> {
  const reader = new StoreReader()
  await reader.open(path, 'last')
  return reader
}

/** The facts about a backup, in a table that only backups have. */
export type Manifest = {
  readonly madeAtMs: number
  /** The version of Tollgate that made it. */
  readonly program: string
  /** The secrets, if the operator included them. */
  readonly keyPepper: Uint8Array | undefined
  readonly masterKey: Uint8Array | undefined
}

/** Writes the manifest into a copy. It is a few pages, and they are not synced. */
export function writeManifest(path: string, { madeAtMs, program, keyPepper, masterKey }: Manifest): void {
  const db = new Database(path)
  try {
    db.exec('PRAGMA synchronous = OFF; DROP TABLE IF EXISTS backup_manifest')
    db.exec(`CREATE TABLE backup_manifest
      (made_at INTEGER NOT NULL, program TEXT NOT NULL, key_pepper BLOB, master_key BLOB) STRICT`)
    db.prepare('INSERT INTO backup_manifest VALUES (?, ?, ?, ?)').run(
      madeAtMs,
      program,
      keyPepper ?? null,
      masterKey ?? null,
    )
  } finally {
    db.close()
  }
}

/** Reads the manifest and removes it, with its secrets, from the database. Returns undefined if there is none. */
export function takeManifest(db: Database): Manifest | undefined {
  if (!db.query("SELECT name FROM sqlite_master WHERE name = 'backup_manifest'").get()) return undefined
  const row = db.query('SELECT made_at, program, key_pepper, master_key FROM backup_manifest').get() as {
    made_at: number
    program: string
    key_pepper: Uint8Array | null
    master_key: Uint8Array | null
  }
  // Deleted rows are overwritten with zeros. The secrets must not stay in free pages.
  db.exec('PRAGMA secure_delete = ON; DROP TABLE backup_manifest')
  const { made_at: madeAtMs, program, key_pepper: keyPepper, master_key: masterKey } = row
  return { madeAtMs, program, keyPepper: keyPepper ?? undefined, masterKey: masterKey ?? undefined }
}
