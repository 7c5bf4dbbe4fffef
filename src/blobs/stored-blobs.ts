/** Hosted files: their ids, their times and their rows. The bytes are in any `BlobFiles`. */
import { createHash, randomBytes } from 'node:crypto'
import { base62 } from '../lib/primitives/ids.ts'
import type { WriteStep } from '../store/statement.ts'
import type { BlobFiles } from './blob-files.ts'
import type { BlobRow, BlobRows } from './blob-rows.ts'
import {
  REMEMBERED_MS,
  type BlobDraft,
  type BlobFinding,
  type BlobPurpose,
  type Blobs,
  type FoundBlob,
  type UnfinishedBlob,
} from './blobs.ts'

/** 160 bits. */
const ID_BYTES = 20
const ID_CHARS = 27
/** The id of an image of ours, or of the task that made a video. */
const ID = /^[a-z]{3,4}_[0-9A-Za-z]{27,32}$/
/** How many files a sweep deletes at once. */
const DELETIONS_MAX = 8

const digestOf = (id: string): string => createHash('sha256').update(id).digest('hex')

function rowOf(digest: string, bytes: number, { accountId, purpose, contentType, keptMs }: BlobDraft): BlobRow {
  const nowMs = Date.now()
  return { digest, accountId, purpose, contentType, bytes, createdAtMs: nowMs, expiresAtMs: nowMs + keptMs }
}

export class StoredBlobs implements Blobs {
  private readonly rows: BlobRows
  private readonly files: BlobFiles

  constructor(rows: BlobRows, files: BlobFiles) {
    this.rows = rows
    this.files = files
  }

  get place(): string {
    return this.files.place
  }

  get isShortOfRoom(): boolean {
    return this.files.isShortOfRoom
  }

  async put(bytes: Uint8Array, draft: BlobDraft): Promise<string | undefined> {
    const id = `img_${base62(BigInt(`0x${randomBytes(ID_BYTES).toString('hex')}`), ID_CHARS)}`
    const digest = digestOf(id)
    const stored = await this.files.put(digest, bytes, draft.contentType)
    if (stored.kind === 'failed') return undefined
    await this.rows.insert(rowOf(digest, bytes.length, draft))
    return id
  }

  begin(id: string, draft: BlobDraft): UnfinishedBlob {
    const digest = digestOf(id)
    const file = this.files.begin(digest, draft.contentType)
    return {
      path: file.path,
      finish: async (halt) => {
        const stored = await file.finish(halt)
        if (stored.kind === 'failed') return stored
        const { bytes } = stored
        return { kind: 'finished', bytes, steps: [this.rows.insertStep(rowOf(digest, bytes, draft))] }
      },
      discard: () => file.discard(),
    }
  }

  withdrawSteps(id: string): WriteStep[] {
    return [this.rows.withdrawStep(digestOf(id))]
  }

  async deleteFile(id: string): Promise<void> {
    await this.files.delete(digestOf(id))
  }

  async find(id: string, purpose: BlobPurpose): Promise<FoundBlob> {
    if (!ID.test(id)) return { kind: 'unknown' }
    const digest = digestOf(id)
    const row = await this.rows.find(digest, purpose)
    if (!row) return { kind: 'unknown' }
    const { contentType, bytes, createdAtMs, expiresAtMs, isWithdrawn } = row
    if (isWithdrawn || expiresAtMs <= Date.now()) return { kind: 'expired' }
    return {
      kind: 'blob',
      open: (part = { from: 0, to: bytes - 1 }) => this.files.open({ name: digest, bytes }, part),
      contentType,
      bytes,
      etag: `"${digest.slice(0, 32)}"`,
      createdAtMs,
      expiresAtMs,
    }
  }

  async keptUntil(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const byDigest = new Map(ids.map((id) => [digestOf(id), id]))
    const expiries = await this.rows.expiries([...byDigest.keys()])
    return new Map([...expiries].map(([digest, expiresAtMs]) => [byDigest.get(digest) ?? '', expiresAtMs]))
  }

  tend(): Promise<void> {
    return this.files.tend()
  }

  async sweep(): Promise<void> {
    const nowMs = Date.now()
    for (;;) {
      const { digests, hasMore } = await this.rows.expiredBy(nowMs)
      const deleted = await this.deleteAll(digests)
      await this.rows.withdraw(deleted)
      // Files that could not be deleted are tried again by the next sweep.
      if (!hasMore || deleted.length < digests.length) break
    }
    await this.rows.forget(nowMs - REMEMBERED_MS)
  }

  private async deleteAll(digests: readonly string[]): Promise<readonly string[]> {
    const deleted: string[] = []
    for (let at = 0; at < digests.length; at += DELETIONS_MAX) {
      const some = digests.slice(at, at + DELETIONS_MAX)
      const outcomes = await Promise.all(some.map((digest) => this.files.delete(digest)))
      deleted.push(...some.filter((_, i) => outcomes[i]))
      if (outcomes.includes(false)) break
    }
    return deleted
  }

  recover(): Promise<void> {
    return this.files.recover(this.rows)
  }

  inspect(): Promise<readonly BlobFinding[]> {
    return this.files.inspect(this.rows)
  }

  examine(): Promise<string | undefined> {
    return this.files.examine()
  }
}
