/** Hosted files in the data folder, each named by the digest of its id, with a row in SQLite. */
import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { base62 } from '../lib/primitives/ids.ts'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import { statement, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { SWEEP_ROWS } from '../store/sweep.ts'
import {
  blobTypes,
  REMEMBERED_MS,
  type BlobDraft,
  type BlobPurpose,
  type BlobReader,
  type Blobs,
  type FoundBlob,
  type UnfinishedBlob,
} from './blobs.ts'

/** 160 bits. */
const ID_BYTES = 20
const ID_CHARS = 27
/** The id of an image of ours, or of the task that made a video. */
const ID = /^[a-z]{3,4}_[0-9A-Za-z]{27,32}$/

const insert = statement(
  `INSERT INTO blob (digest, account_id, purpose, content_type, bytes, created_at, expires_at)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
)
const markRemoved = statement('UPDATE blob SET removed_at = ? WHERE digest = ? AND removed_at IS NULL')
const forget = statement('DELETE FROM blob WHERE removed_at < ?')

const digestOf = (id: string): string => createHash('sha256').update(id).digest('hex')

/** Opens hosted files. Their rows are in `store` and their bytes in its folder. */
export const openFolderBlobs = (store: Store, room: Pick<DiskRoom, 'isShort'>): Blobs => new FolderBlobs(store, room)

class FolderBlobs implements Blobs {
  private readonly store: Store
  private readonly folder: string
  private readonly room: Pick<DiskRoom, 'isShort'>

  constructor(store: Store, room: Pick<DiskRoom, 'isShort'>) {
    this.store = store
    this.room = room
    this.folder = join(store.folder, 'blobs')
  }

  get isShortOfRoom(): boolean {
    return this.room.isShort
  }

  async put(bytes: Uint8Array, { accountId, purpose, contentType, keptMs }: BlobDraft): Promise<string> {
    const id = `img_${base62(BigInt(`0x${randomBytes(ID_BYTES).toString('hex')}`), ID_CHARS)}`
    const digest = digestOf(id)
    const unfinished = join(this.folder, `${digest}.part`)
    const file = await open(unfinished, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
    } finally {
      await file.close()
    }
    await rename(unfinished, join(this.folder, digest))
    const nowMs = Date.now()
    const bind = [digest, accountId, purpose, contentType, bytes.length, nowMs, nowMs + keptMs]
    await mustWrite(this.store, [{ run: insert, bind, changes: 1 }])
    return id
  }

  begin(id: string, { accountId, purpose, contentType, keptMs }: BlobDraft): UnfinishedBlob {
    const digest = digestOf(id)
    const path = join(this.folder, `${digest}.part`)
    return {
      path,
      finish: async () => {
        // The file is charged next, so it must survive a crash of the machine.
        await synced(path)
        const place = join(this.folder, digest)
        await rename(path, place)
        await synced(this.folder)
        const { size: bytes } = await stat(place)
        const nowMs = Date.now()
        const bind = [digest, accountId, purpose, contentType, bytes, nowMs, nowMs + keptMs]
        return { bytes, steps: [{ run: insert, bind, changes: 1 }] }
      },
      discard: () => this.remove(`${digest}.part`),
    }
  }

  withdrawSteps(id: string): WriteStep[] {
    return [{ run: markRemoved, bind: [Date.now(), digestOf(id)] }]
  }

  async removeFile(id: string): Promise<void> {
    await this.remove(digestOf(id))
  }

  async find(id: string, purpose: BlobPurpose): Promise<FoundBlob> {
    if (!ID.test(id)) return { kind: 'unknown' }
    const digest = digestOf(id)
    const sql = `SELECT content_type, bytes, created_at, expires_at, removed_at FROM blob
      WHERE digest = ? AND purpose = ?`
    const [row] = await this.store.query(sql, [digest, purpose])
    if (!row) return { kind: 'unknown' }
    const expiresAtMs = Number(row['expires_at'])
    const contentType = blobTypes.find((type) => type === row['content_type'])
    if (row['removed_at'] !== null || expiresAtMs <= Date.now() || !contentType) return { kind: 'expired' }
    return {
      kind: 'blob',
      open: () => openReader(join(this.folder, digest)),
      contentType,
      bytes: Number(row['bytes']),
      etag: `"${digest.slice(0, 32)}"`,
      createdAtMs: Number(row['created_at']),
      expiresAtMs,
    }
  }

  async keptUntil(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const byDigest = new Map(ids.map((id) => [digestOf(id), id]))
    const sql = `SELECT digest, expires_at FROM blob
      WHERE digest IN (SELECT value FROM json_each(?)) AND removed_at IS NULL`
    const rows = await this.store.aside.query(sql, [JSON.stringify([...byDigest.keys()])])
    return new Map(rows.map((row) => [byDigest.get(String(row['digest'])) ?? '', Number(row['expires_at'])]))
  }

  async sweep(): Promise<void> {
    const nowMs = Date.now()
    const sql = `SELECT digest FROM blob WHERE expires_at <= ? AND removed_at IS NULL LIMIT ${SWEEP_ROWS}`
    for (;;) {
      const rows = await this.store.query(sql, [nowMs])
      for (const { digest } of rows) await this.remove(String(digest))
      const steps = rows.map(({ digest }) => ({ run: markRemoved, bind: [nowMs, String(digest)] }))
      if (steps.length > 0) await this.store.write(steps, 'bulk')
      if (rows.length < SWEEP_ROWS) break
    }
    await this.store.write([{ run: forget, bind: [nowMs - REMEMBERED_MS] }], 'bulk')
  }

  /** A file without a row lost its row to a crash, because only this process stores files. */
  async recover(): Promise<void> {
    // Made by the server alone: a command that another user runs would own it.
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    chmodSync(this.folder, 0o700)
    const rows = await this.store.query('SELECT digest FROM blob WHERE removed_at IS NULL')
    const known = new Set(rows.map(({ digest }) => String(digest)))
    for (const name of await readdir(this.folder)) if (!known.has(name)) await this.remove(name)
  }

  private async remove(name: string): Promise<void> {
    await unlink(join(this.folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

async function openReader(path: string): Promise<BlobReader | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  return (
    file && {
      read: async (piece, at) => (await file.read(piece, 0, piece.length, at)).bytesRead,
      close: () => file.close(),
    }
  )
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
