/** Hosted files in the data folder, each named by the digest of its id. */
import { chmodSync, mkdirSync } from 'node:fs'
import { open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { BlobFiles, FileFacts, StoredFile, UnfinishedFile } from './blob-files.ts'
import type { BlobRows } from './blob-rows.ts'
import type { BlobReader, Blobs } from './blobs.ts'
import { StoredBlobs } from './stored-blobs.ts'

type FolderParts = {
  readonly room: Pick<DiskRoom, 'isShort'>
  /** Whether this process is the first of those that share the folder. The default is yes. */
  readonly isFirst?: boolean
}

/** Opens hosted files whose bytes are in a data folder. */
export const openFolderBlobs = (rows: BlobRows, dataFolder: string, parts: FolderParts): Blobs =>
  new StoredBlobs(rows, new FolderFiles(join(dataFolder, 'blobs'), parts))

class FolderFiles implements BlobFiles {
  readonly place: string
  private readonly room: Pick<DiskRoom, 'isShort'>
  private readonly isFirst: boolean

  constructor(folder: string, { room, isFirst = true }: FolderParts) {
    this.place = folder
    this.room = room
    this.isFirst = isFirst
  }

  get isShortOfRoom(): boolean {
    return this.room.isShort
  }

  async put(name: string, bytes: Uint8Array): Promise<StoredFile> {
    const unfinished = join(this.place, `${name}.part`)
    const file = await open(unfinished, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
    } finally {
      await file.close()
    }
    await rename(unfinished, join(this.place, name))
    return { kind: 'stored', bytes: bytes.length }
  }

  begin(name: string): UnfinishedFile {
    const path = join(this.place, `${name}.part`)
    return {
      path,
      finish: async () => {
        // The file is charged next, so it must survive a crash of the machine.
        await synced(path)
        const place = join(this.place, name)
        await rename(path, place)
        await synced(this.place)
        return { kind: 'stored', bytes: (await stat(place)).size }
      },
      discard: async () => void (await this.delete(`${name}.part`)),
    }
  }

  async open({ name }: FileFacts): Promise<BlobReader | undefined> {
    const file = await open(join(this.place, name), 'r').catch(() => undefined)
    return (
      file && {
        read: async (piece, at) => (await file.read(piece, 0, piece.length, at)).bytesRead,
        close: () => file.close(),
      }
    )
  }

  async delete(name: string): Promise<boolean> {
    await unlink(join(this.place, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    return true
  }

  /**
   * A file without a row lost its row to a crash, because nobody stores files in the folder before the first process
   * has looked. The others of `TOLLGATE_WORKERS` start later, and may start again while it stores files.
   */
  async recover(rows: BlobRows): Promise<void> {
    // Made by the server alone: a command that another user runs would own it.
    mkdirSync(this.place, { recursive: true, mode: 0o700 })
    chmodSync(this.place, 0o700)
    if (!this.isFirst) return
    const kept = await rows.keptDigests()
    for (const name of await readdir(this.place)) if (!kept.has(name)) await this.delete(name)
  }

  async tend(): Promise<void> {
    // Nothing to do: the folder needs no connection.
  }

  async inspect(): Promise<readonly []> {
    // The start has compared the folder with the rows, and only processes of this gateway write to it.
    return []
  }

  async examine(): Promise<undefined> {
    // A data folder that cannot be used stops the start.
    return undefined
  }
}

/** Waits until the contents of a file, or the names in a folder, are on the disk. */
async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
