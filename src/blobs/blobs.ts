/**
 * Files that the gateway serves without a key: whoever has the id may fetch it, until it expires. The id leaves the
 * process once, in the answer it was made for; what is kept is its digest, which is the file's name too.
 */
import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import { base62 } from '../lib/primitives/ids.ts'
import { statement, type WriteStep } from '../store/statement.ts'
import { mustWrite, type Queryable, type Store } from '../store/store.ts'
import { DAY_MS } from '../lib/primitives/units.ts'
import { SWEEP_ROWS } from '../store/sweep.ts'

export type BlobPurpose = 'image' | 'video'

export type BlobDraft = {
  readonly accountId: string
  readonly purpose: BlobPurpose
  readonly contentType: BlobType
  readonly keptMs: number
}

/** What a browser may be told such a file is; nothing that it would run. */
export const blobTypes = ['image/png', 'image/jpeg', 'image/webp', 'video/mp4'] as const
export type BlobType = (typeof blobTypes)[number]

/** A file that can be served. */
export type Blob = {
  readonly kind: 'blob'
  readonly path: string
  readonly contentType: BlobType
  readonly bytes: number
  /** For caches; says nothing of the id. */
  readonly etag: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
}
export type FoundBlob = Blob | { readonly kind: 'expired' | 'unknown' }

/** 160 bits. */
const ID_BYTES = 20
const ID_CHARS = 27
/** Of an image of ours, or of the task that made a video. */
const ID = /^[a-z]{3,4}_[0-9A-Za-z]{27,32}$/
/** How long a row says that there was a file. */
const REMEMBERED_MS = 30 * DAY_MS

const insert = statement(
  `INSERT INTO blob (digest, account_id, purpose, content_type, bytes, created_at, expires_at)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
)
const markRemoved = statement('UPDATE blob SET removed_at = ? WHERE digest = ? AND removed_at IS NULL')
const forget = statement('DELETE FROM blob WHERE removed_at < ?')

const digestOf = (id: string): string => createHash('sha256').update(id).digest('hex')

/** A file that is being brought in, under an id that its owner has made. */
export type UnfinishedBlob = {
  /** Where it is to be written; emptied, if there was a former attempt. */
  readonly path: string
  /** Puts what was written in its place. The steps make it a file that is served. */
  finish(): Promise<{ readonly bytes: number; readonly steps: readonly WriteStep[] }>
  discard(): Promise<void>
}

export class Blobs {
  private readonly store: Store
  private readonly folder: string
  private readonly room: Pick<DiskRoom, 'isShort'>

  constructor(store: Store, room: Pick<DiskRoom, 'isShort'>) {
    this.store = store
    this.room = room
    this.folder = join(store.folder, 'blobs')
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    chmodSync(this.folder, 0o700)
  }

  /** Whether the disk should be spared further files: to be asked before anything is made that would need one. */
  get isShortOfRoom(): boolean {
    return this.room.isShort
  }

  /** Keeps bytes. The id they are found by is on disk, as its digest, when this resolves. */
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

  /** Begins a file that is too large for memory, under the id of what made it. */
  begin(id: string, { accountId, purpose, contentType, keptMs }: BlobDraft): UnfinishedBlob {
    const digest = digestOf(id)
    const path = join(this.folder, `${digest}.part`)
    return {
      path,
      finish: async () => {
        // It is paid for in a moment: what is charged must be there after a crash of the machine.
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

  /** The steps after which nothing is served under an id. */
  withdrawSteps(id: string): WriteStep[] {
    return [{ run: markRemoved, bind: [Date.now(), digestOf(id)] }]
  }

  /** Takes the file of an id that was withdrawn off the disk; a crash before leaves it to the next start. */
  async removeFile(id: string): Promise<void> {
    await this.remove(digestOf(id))
  }

  /** The file of an id, where it is one of this purpose. */
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
      path: join(this.folder, digest),
      contentType,
      bytes: Number(row['bytes']),
      etag: `"${digest.slice(0, 32)}"`,
      createdAtMs: Number(row['created_at']),
      expiresAtMs,
    }
  }

  /** Removes files that have expired. */
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

  /** Removes files without a row: a crash came between the two. To be called before anything is put. */
  async sweepStrays(): Promise<void> {
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

/** Until when files are served, by their ids; without those that are not, or not any more. */
export async function keptUntil(store: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const byDigest = new Map(ids.map((id) => [digestOf(id), id]))
  const sql = `SELECT digest, expires_at FROM blob
    WHERE digest IN (SELECT value FROM json_each(?)) AND removed_at IS NULL`
  const rows = await store.query(sql, [JSON.stringify([...byDigest.keys()])])
  return new Map(rows.map((row) => [byDigest.get(String(row['digest'])) ?? '', Number(row['expires_at'])]))
}

/** Waits until a file's bytes, or a folder's names, are on the disk. */
async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
