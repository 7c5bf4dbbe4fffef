/** The bytes of hosted files, and the port that stores them. Each file is named by the digest of its id. */
import type { BlobFinding, BlobPart, BlobReader, BlobType, StoringHalt, UnreadableBlob } from './blobs.ts'
import type { BlobRows } from './blob-rows.ts'

/** Whether a file was stored durably. `message` is for the operator. */
export type StoredFile =
  | { readonly kind: 'stored'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly message: string }

export type UnfinishedFile = {
  readonly path: string
  finish(halt: StoringHalt | undefined): Promise<StoredFile>
  discard(): Promise<void>
}

/** What is known of a file from its row. */
export type FileFacts = { readonly name: string; readonly bytes: number }

/**
 * The port of bytes.
 *
 * - A stored file is complete. An unfinished one is never read.
 * - Storing under a name replaces what a former attempt left there.
 */
export type BlobFiles = {
  /** Where the files are, for the operator. */
  readonly place: string
  /** Whether no file can be stored at the moment. */
  readonly isShortOfRoom: boolean
  put(name: string, bytes: Uint8Array, contentType: BlobType): Promise<StoredFile>
  begin(name: string, contentType: BlobType): UnfinishedFile
  /** Opens a file. Undefined if there is none. */
  open(file: FileFacts, part: BlobPart): Promise<BlobReader | UnreadableBlob | undefined>
  /** Deletes a file, if there is one. False if it cannot be deleted at the moment. */
  delete(name: string): Promise<boolean>
  /** Deletes what a former process left on this machine. */
  recover(rows: BlobRows): Promise<void>
  tend(): Promise<void>
  inspect(rows: BlobRows): Promise<readonly BlobFinding[]>
  examine(): Promise<string | undefined>
}
