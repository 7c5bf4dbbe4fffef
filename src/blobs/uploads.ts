/**
 * Files that a request brings, for as long as it lasts: on the disk, because nobody's memory is large enough for all of
 * them. Named by us, in a folder that is emptied at the start, so that a crash leaves nothing behind.
 */
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { BudgetShare, SharedBudget } from '../lib/primitives/shared-budget.ts'
import { limit } from '../lib/primitives/limit.ts'
import { GIB } from '../lib/primitives/units.ts'

/** Files on the disk, for as long as the requests that brought them: in all, and of one account. */
export const uploadBounds = {
  max: limit('uploadBytesMax', 8 * GIB, 'A further upload is refused.'),
  shareMax: limit('uploadBytesPerAccountMax', GIB, 'A further upload of the account is refused.'),
}

export type UploadedFile = {
  readonly path: string
  readonly bytes: number
  /** Of the contents, hexadecimal. */
  readonly sha256: string
}

export class Uploads {
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

  /** Whether the disk has no room for any at the moment. */
  get isShort(): boolean {
    return this.room.isShort
  }

  /** The files of one request. They are to be removed when it is over. */
  begin(accountId: string): UploadBatch {
    return new UploadBatch(this.folder, this.shares.of(accountId))
  }
}

/** A file that is being written. Nothing waits: a write ends in the system's memory, as nginx too has it. */
export type Upload = {
  /** False, and nothing written, when the account has no room for more. */
  write(bytes: Uint8Array): boolean
  end(): UploadedFile
}

export class UploadBatch {
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

  /** Removes everything. Safe to call again. */
  async remove(): Promise<void> {
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
