/**
 * Files that a request brings, for as long as it lasts: on the disk, because nobody's memory is large enough for all of
 * them. Named by us, in a folder that is emptied at the start, so that a crash leaves nothing behind.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'

export type UploadedFile = {
  readonly path: string
  readonly bytes: number
  /** Of the contents, hexadecimal. */
  readonly sha256: string
}

export class Uploads {
  private readonly folder: string

  constructor(dataFolder: string) {
    this.folder = join(dataFolder, 'uploads')
    rmSync(this.folder, { recursive: true, force: true })
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
  }

  /** The files of one request. They are to be removed when it is over. */
  begin(): UploadBatch {
    return new UploadBatch(this.folder)
  }
}

/** A file that is being written. */
export type Upload = {
  write(bytes: Uint8Array): Promise<void>
  end(): Promise<UploadedFile>
}

export class UploadBatch {
  private readonly folder: string
  private readonly paths: string[] = []
  private readonly unfinished = new Set<{ close(): Promise<void> }>()

  constructor(folder: string) {
    this.folder = folder
  }

  async create(): Promise<Upload> {
    const path = join(this.folder, randomBytes(16).toString('hex'))
    this.paths.push(path)
    const file = await open(path, 'wx', 0o600)
    this.unfinished.add(file)
    const hash = createHash('sha256')
    let written = 0
    return {
      async write(bytes) {
        hash.update(bytes)
        await file.write(bytes)
        written += bytes.length
      },
      end: async () => {
        this.unfinished.delete(file)
        await file.close()
        return { path, bytes: written, sha256: hash.digest('hex') }
      },
    }
  }

  /** Removes everything. Safe to call again. */
  async remove(): Promise<void> {
    for (const file of this.unfinished) await file.close()
    this.unfinished.clear()
    for (const path of this.paths.splice(0)) {
      await unlink(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    }
  }
}
