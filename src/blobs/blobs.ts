/**
 * Files that the gateway serves without a key, and the port that stores them. A client that has the id may fetch the
 * file until it expires. The id leaves the process once, in the answer that it was made for.
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

/** The content types of such files. A browser runs none of them. */
export const blobTypes = ['image/png', 'image/jpeg', 'image/webp', 'video/mp4'] as const
export type BlobType = (typeof blobTypes)[number]

/** A file that is open for reading. */
export type BlobReader = {
  /** Reads bytes from `at` into `piece`. Resolves to their number, which is 0 at the end. */
  read(piece: Uint8Array, at: number): Promise<number>
  close(): Promise<void>
}

/** A file that can be served. */
export type Blob = {
  readonly kind: 'blob'
  readonly contentType: BlobType
  readonly bytes: number
  /** For caches. It reveals nothing about the id. */
  readonly etag: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** Opens the file, or resolves to undefined if it was removed meanwhile. An open file can be read to its end. */
  readonly open: () => Promise<BlobReader | undefined>
}
export type FoundBlob = Blob | { readonly kind: 'expired' | 'unknown' }

/** A file that is being stored, under an id that its owner has made. */
export type UnfinishedBlob = {
  /** The local file to write to. A former attempt may have left bytes in it. */
  readonly path: string
  /** Moves the written file into place, durably. The steps make it a file that is served. */
  finish(): Promise<{ readonly bytes: number; readonly steps: readonly WriteStep[] }>
  /** Removes what was written. May be repeated. */
  discard(): Promise<void>
}

/** How long the row of an expired file is kept. */
export const REMEMBERED_MS = 30 * DAY_MS

/**
 * The port of hosted files.
 *
 * - Only the digest of an id is stored, so a copy of the store gives access to no file.
 * - A file is served once its row is written, for its purpose alone, until it expires or is withdrawn. Then it is
 *   `expired` for `REMEMBERED_MS`, and `unknown` afterwards.
 * - Bytes are read back as they were stored.
 * - A crash between a file and its row leaves a file without a row. It is never served, and is removed later.
 */
export type Blobs = {
  /** Whether the disk is short of space. Callers check this before they make anything that needs a file. */
  readonly isShortOfRoom: boolean
  /** Stores bytes for `keptMs`. Resolves to an unguessable id once the file and its row are stored. */
  put(bytes: Uint8Array, draft: BlobDraft): Promise<string>
  /** Begins a file that is too large for memory, under the id of the task that made it. */
  begin(id: string, draft: BlobDraft): UnfinishedBlob
  /** Steps after which nothing is served under an id. */
  withdrawSteps(id: string): WriteStep[]
  /** Removes the file of a withdrawn id. */
  removeFile(id: string): Promise<void>
  find(id: string, purpose: BlobPurpose): Promise<FoundBlob>
  /** When files expire, by id. Removed files and unknown ids are left out. */
  keptUntil(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Removes expired files. */
  sweep(): Promise<void>
  /** Removes what a crash left behind. It must be called once, before anything is stored. */
  recover(): Promise<void>
}
