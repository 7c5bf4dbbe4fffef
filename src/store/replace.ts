/** Putting a backup in the place of a data folder's database. The caller holds the folder's lock. */
import { Database } from 'bun:sqlite'
import { chmodSync, copyFileSync, existsSync, rmSync } from 'node:fs'
import { takeManifest, type Manifest } from './copy.ts'
import type { FileSwap } from './file-swap.ts'
import { migrate, schemaOf, syncPath } from './migrate.ts'

/** The files that SQLite keeps beside a database in use. */
const BESIDE = ['-wal', '-shm', '-journal'] as const

export type StagedData =
  | { readonly kind: 'staged'; readonly schema: number; readonly manifest: Manifest | undefined }
  | { readonly kind: 'refused'; readonly message: string }

/** Removes a database with what belongs to it. */
export function removeDatabase(path: string): void {
  for (const end of ['', ...BESIDE]) rmSync(`${path}${end}`, { force: true })
}

/** Copies a backup to `staged`, takes its manifest out and brings it up to date. Throws DatabaseTooNew. */
export function stageBackup(file: string, staged: string): StagedData {
  // A database that was copied while in use has its last commits here; without them it looks whole and is not.
  if (existsSync(`${file}-wal`)) {
    return { kind: 'refused', message: `${file}-wal lies beside it: that is a database in use, not a backup` }
  }
  removeDatabase(staged)
  copyFileSync(file, staged)
  chmodSync(staged, 0o600)
  try {
    const opened = openStaged(staged)
    if (opened.kind === 'refused') return { kind: 'refused', message: `${file} ${opened.message}` }
    migrate(staged)
    return opened
  } catch (error) {
    const fault = faultOf(error)
    if (fault === undefined) throw error
    return { kind: 'refused', message: `${file} ${fault}` }
  }
}

/** What an error says of a backup; undefined where it says nothing of it. */
function faultOf(error: unknown): string | undefined {
  const { code = '', message } = error as { code?: string; message: string }
  if (code === 'SQLITE_NOTADB') return 'is no database'
  if (code.startsWith('SQLITE_CORRUPT')) return `is damaged: ${message}`
  return code.startsWith('SQLITE_CONSTRAINT') ? `cannot be upgraded: ${message}` : undefined
}

function openStaged(staged: string): StagedData {
  const db = new Database(staged)
  try {
    const tables = db.query("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[]
    const schema = schemaOf(db)
    const known = new Set(tables.map(({ name }) => name))
    const isOurs = schema > 0 && ['account', 'journal', 'entry', 'hold'].every((name) => known.has(name))
    if (!isOurs) return { kind: 'refused', message: 'is no backup of Tollgate' }
    return { kind: 'staged', schema, manifest: takeManifest(db) }
  } finally {
    db.close()
  }
}

/** Makes a database one file again, and durable: what was in its log is in it, and nothing is beside it. */
export function foldDatabase(path: string): void {
  const db = new Database(path)
  try {
    db.exec('PRAGMA journal_mode = DELETE')
  } finally {
    db.close()
  }
  syncPath(path)
}

/**
 * Puts `staged` in the place of `path` in one step; what was there is kept as `aside`. Whatever moment the machine
 * stops at, the folder has the one database or the other, whole.
 */
export function replaceDatabase(
  swap: FileSwap,
  { staged, path, aside }: { staged: string; path: string; aside: string },
): void {
  if (existsSync(path)) setAside(swap, path, aside)
  swap.rename(staged, path)
}

function setAside(swap: FileSwap, path: string, aside: string): void {
  try {
    foldDatabase(path)
  } catch {
    // Damaged, perhaps the reason for all this: it is kept as it is, with its log under the matching name.
    for (const end of BESIDE) if (existsSync(`${path}${end}`)) swap.rename(`${path}${end}`, `${aside}${end}`)
  }
  swap.keep(path, aside)
}
