import { Database } from 'bun:sqlite'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Holds the data folder for this process. */
export type FolderLock = { release(): void }

class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/**
 * Takes the data folder for this process, or throws FolderInUse. The lock is SQLite's exclusive file lock on a file of
 * its own: the operating system drops it when the process dies, however it dies, so there is no stale lock to clear.
 */
export function lockFolder(folder: string): FolderLock {
  const ownerFile = join(folder, 'owner.pid')
  const db = new Database(join(folder, 'lock.db'), { create: true })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    // A full disk, say, is nobody else's.
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
    return 'unknown' // The owner has the lock but has not written its number yet.
  }
}
