/** Replaces the database of a data folder with a backup. The caller holds the folder's lock. */
import { Database } from 'bun:sqlite'
import { chmodSync, copyFileSync, existsSync, rmSync } from 'node:fs'
import { takeManifest, type Manifest } from './copy.ts'
import type { FileSwap } from './file-swap.ts'
import { migrate, schemaOf, syncPath } from './migrate.ts'

/** The files that SQLite keeps beside a database that is in use. */
const BESIDE = ['-wal', '-shm', '-journal'] as const

export type StagedData =
  | { readonly kind: 'staged'; readonly schema: number; readonly manifest: Manifest | undefined }
  | { readonly kind: 'refused'; readonly message: string }

/** Removes a database and the files beside it. */
export function removeDatabase(path: string): void {
  for (const end of ['', ...BESIDE]) rmSync(`${path}${end}`, { force: true })
}

/** Copies a backup to `staged`, removes its manifest and upgrades it. Throws `DatabaseTooNew`. */
export function stageBackup(file: string, staged: string): StagedData {
  // The log of a database in use has its last commits. A copy without the log looks whole but is not.
  if (existsSync(`${file}-wal`)) {
    return { kind: 'refused', message: `${file}-wal is beside it: this is a database in use, not a backup` }
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

/** The fault of a backup that an error shows, or undefined if the error has another cause. */
function faultOf(error: unknown): string | undefined {
  const { code = '', message } = error as { code?: string; message: string }
  if (code === 'SQLITE_NOTADB') return 'is not a database'
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
    if (!isOurs) return { kind: 'refused', message: 'is not a backup of Tollgate' }
    return { kind: 'staged', schema, manifest: takeManifest(db) }
  } finally {
    db.close()
  }
}

/** Makes a database durable as one file: its log is folded in, and no file is left beside it. */
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
 * Puts `staged` in the place of `path` in one step, and keeps the previous file as `aside`. If the machine stops at any
 * moment, the folder has one of the two databases, whole.
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
    // The database is damaged, perhaps the reason for the restore. It is kept as it is, with its log under its new
    // name.
    for (const end of BESIDE) if (existsSync(`${path}${end}`)) swap.rename(`${path}${end}`, `${aside}${end}`)
  }
  swap.keep(path, aside)
}
