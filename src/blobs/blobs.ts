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
  /** Reads bytes from `at` into `piece`. Resolves to their number, which is 0 at the end and when the rest is lost. */
  read(piece: Uint8Array, at: number): Promise<number>
  close(): Promise<void>
}

/** The bytes that will be read: from the first to the last, inclusive. `to` below `from`: none. */
export type BlobPart = { readonly from: number; readonly to: number }

/** Why an existing file cannot be read: its storage does not answer, or the file is not the one that was stored. */
export type UnreadableBlob = 'unavailable' | 'damaged'

/** A file that can be served. */
export type Blob = {
  readonly kind: 'blob'
  readonly contentType: BlobType
  readonly bytes: number
  /** For caches. It reveals nothing about the id. */
  readonly etag: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /**
   * Opens the file for a part of it, or for all of it. Resolves to undefined if it was deleted meanwhile. An open file
   * can be read to its end.
   */
  readonly open: (part?: BlobPart) => Promise<BlobReader | UnreadableBlob | undefined>
}
export type FoundBlob = Blob | { readonly kind: 'expired' | 'unknown' }

/** Stops the storing of a file when the gateway stops. */
export type StoringHalt = {
  readonly upstreamStopped: boolean
  took(flight: { abort(): void }): void
  landed(flight: { abort(): void }): void
}

export type FinishedBlob =
  /** The steps make it a file that is served. */
  | { readonly kind: 'finished'; readonly bytes: number; readonly steps: readonly WriteStep[] }
  /** The written file is still there, so `finish` may be called again. `message` is for the operator. */
  | { readonly kind: 'failed'; readonly message: string }

/** A file that is being stored, under an id that its owner has made. */
export type UnfinishedBlob = {
  /** The local file to write to. A former attempt may have left bytes in it. */
  readonly path: string
  /** Moves the written file into place, durably. */
  finish(halt?: StoringHalt): Promise<FinishedBlob>
  /** Deletes what was written. May be repeated. */
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
 * - A crash between a file and its row leaves a file without a row. It is never served. Where this process is the only
 *   one that stores files, `recover` deletes it. Elsewhere `inspect` reports it.
 */
export type Blobs = {
  /** Where the files are, for the operator. */
  readonly place: string
  /** Whether no file can be stored at the moment. Callers check this before they make anything that needs a file. */
  readonly isShortOfRoom: boolean
  /**
   * Stores bytes for `keptMs`. Resolves to an unguessable id once the file and its row are stored, or to undefined if
   * the file could not be stored.
   */
  put(bytes: Uint8Array, draft: BlobDraft): Promise<string | undefined>
  /** Begins a file that is too large for memory, under the id of the task that made it. */
  begin(id: string, draft: BlobDraft): UnfinishedBlob
  /** Steps after which nothing is served under an id. */
  withdrawSteps(id: string): WriteStep[]
  /** Deletes the file of a withdrawn id. If that fails, `inspect` deletes it later. */
  deleteFile(id: string): Promise<void>
  find(id: string, purpose: BlobPurpose): Promise<FoundBlob>
  /** When files expire, by id. Withdrawn and unknown ids are left out. */
  keptUntil(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Deletes expired files. Of several instances, one does it for all. */
  sweep(): Promise<void>
  /** The periodic work that each instance does for itself. */
  tend(): Promise<void>
  /** Deletes what a crash left behind. It must be called once, before anything is stored. */
  recover(): Promise<void>
  /** Compares some of the files with their rows, and goes on there the next time. Resolves to what does not match. */
  inspect(): Promise<readonly BlobFinding[]>
  /** Stores, reads and deletes a small file. Resolves to what failed, in words for the operator. */
  examine(): Promise<string | undefined>
}

/** Files and rows that do not match. */
export type BlobFinding = {
  /**
   * `no_row`: files that no row knows, such as those of a process that died before it wrote the row. `no_file`: files
   * that were stored and are gone. `unfinished`: uploads that never ended, which were deleted.
   */
  readonly kind: 'no_row' | 'no_file' | 'unfinished'
  readonly count: number
  /** The name of one of them. It reveals no id. */
  readonly example: string
}
