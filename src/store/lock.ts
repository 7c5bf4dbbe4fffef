import { Database } from 'bun:sqlite'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The lock of the data folder for this process. */
export type FolderLock = { release(): void }

class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/**
 * Takes the data folder for this process, or throws `FolderInUse`. The lock is SQLite's exclusive file lock on a file
 * of its own. The operating system releases it however the process dies, so a lock is never stale.
 */
export function lockFolder(folder: string): FolderLock {
  const ownerFile = join(folder, 'owner.pid')
  const db = new Database(join(folder, 'lock.db'), { create: true })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    // Another error, such as a full disk, does not mean that another process has the folder.
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error
    throw new FolderInUse(`${folder} is in use by another Tollgate (pid ${ownerPid(ownerFile)})`)
  }
  writeFileSync(ownerFile, `${process.pid}\n`, { mode: 0o600 })
  return { release: () => db.close() }
}

function ownerPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return 'unknown' // The owner has the lock but has not written its process id yet.
  }
}
