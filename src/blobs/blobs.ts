/**
 * Files that the gateway serves without a key, and the port that keeps them. A client that has the id may fetch the
 * file, until it expires. The id leaves the process once, in the answer that it was made for.
 */
import { DAY_MS } from '../lib/primitives/units.ts'
import type { WriteStep } from '../store/statement.ts'

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

/** A file that is open for reading. */
export type BlobReader = {
  /** Reads bytes from `at` on into `piece`. Resolves to how many there were; 0 at the end. */
  read(piece: Uint8Array, at: number): Promise<number>
  close(): Promise<void>
}

/** A file that can be served. */
export type Blob = {
  readonly kind: 'blob'
  readonly contentType: BlobType
  readonly bytes: number
  /** For caches; says nothing of the id. */
  readonly etag: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** Opens the file; undefined where it was removed meanwhile. An open file can be read to its end. */
  readonly open: () => Promise<BlobReader | undefined>
}
export type FoundBlob = Blob | { readonly kind: 'expired' | 'unknown' }

/** A file that is being brought in, under an id that its owner has made. */
export type UnfinishedBlob = {
  /** A file of this machine, where the bytes are to be written. A former attempt may have left bytes in it. */
  readonly path: string
  /** Puts what was written in its place, durably. The steps make it a file that is served. */
  finish(): Promise<{ readonly bytes: number; readonly steps: readonly WriteStep[] }>
  /** Removes what was written. Safe to repeat. */
  discard(): Promise<void>
}

/** How long a row says that there was a file. */
export const REMEMBERED_MS = 30 * DAY_MS

/**
 * The port of hosted files.
 *
 * - What is kept of an id is its digest: a copy of the store leads to no file.
 * - A file is served once its row is written, under its purpose alone, until it expires or is withdrawn. Then it is
 *   `expired` for `REMEMBERED_MS`, and `unknown` afterwards.
 * - Bytes come back as they were put.
 * - Between a file and its row a crash leaves a file without a row. It is never served, and is removed later.
 */
export type Blobs = {
  /** Whether the disk is short: to be asked before anything is made that would need a file. */
  readonly isShortOfRoom: boolean
  /** Keeps bytes for `keptMs`. Resolves to the id, which nobody can guess, once the file and its row are kept. */
  put(bytes: Uint8Array, draft: BlobDraft): Promise<string>
  /** Begins a file that is too large for memory, under the id of what made it. */
  begin(id: string, draft: BlobDraft): UnfinishedBlob
  /** Steps after which nothing is served under an id. */
  withdrawSteps(id: string): WriteStep[]
  /** Removes the file of an id that was withdrawn. */
  removeFile(id: string): Promise<void>
  find(id: string, purpose: BlobPurpose): Promise<FoundBlob>
  /** When files expire, by id. Files that were removed, and unknown ids, are left out. */
  keptUntil(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Removes files that have expired. */
  sweep(): Promise<void>
  /** Removes what a crash left behind. To be called once, before anything is put. */
  recover(): Promise<void>
}
