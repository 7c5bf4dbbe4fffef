/** Uploads in a folder on disk, because memory is too small for all of them. A start empties the folder. */
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { BudgetShare, SharedBudget } from '../lib/primitives/shared-budget.ts'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { Upload, UploadBatch, Uploads } from './uploads.ts'

/** Opens the uploads of a data folder, and deletes those of a former process. */
export const openFolderUploads = (dataFolder: string, room: Pick<DiskRoom, 'isShort'>, shares: SharedBudget): Uploads =>
  new FolderUploads(dataFolder, room, shares)

class FolderUploads implements Uploads {
  private readonly folder: string
  private readonly room: Pick<DiskRoom, 'isShort'>
  private readonly shares: SharedBudget

  constructor(dataFolder: string, room: Pick<DiskRoom, 'isShort'>, shares: SharedBudget) {
    this.room = room
    this.shares = shares
    this.folder = join(dataFolder, 'uploads')
    rmSync(this.folder, { recursive: true, force: true })
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
  }

  get isShort(): boolean {
    return this.room.isShort
  }

  begin(accountId: string): UploadBatch {
    return new FolderBatch(this.folder, this.shares.of(accountId))
  }
}

class FolderBatch implements UploadBatch {
  private readonly folder: string
  private readonly share: BudgetShare
  private written = 0
  private readonly paths: string[] = []
  private readonly unfinished = new Set<number>()

  constructor(folder: string, share: BudgetShare) {
    this.folder = folder
    this.share = share
  }

  create(): Upload {
    const path = join(this.folder, randomBytes(16).toString('hex'))
    const file = openSync(path, 'wx', 0o600)
    this.paths.push(path)
    this.unfinished.add(file)
    const hash = createHash('sha256')
    let written = 0
    return {
      write: (bytes) => {
        if (this.share.take(bytes.length, this.written) !== 'taken') return false
        this.written += bytes.length
        hash.update(bytes)
        for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at)
        written += bytes.length
        return true
      },
      end: () => {
        this.unfinished.delete(file)
        closeSync(file)
        return { path, bytes: written, sha256: hash.digest('hex') }
      },
    }
  }

  async delete(): Promise<void> {
    for (const file of this.unfinished) closeSync(file)
    this.unfinished.clear()
    this.share.give(this.written)
    this.written = 0
    for (const path of this.paths.splice(0)) {
      await unlink(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    }
  }
}
