/** Files that belong to a request and last as long as it: the port that stores them. */
import { limit } from '../lib/primitives/limit.ts'
import { GIB } from '../lib/primitives/units.ts'

/** The bounds of files on disk that belong to running requests: in total and per account. */
export const uploadBounds = {
  max: limit('uploadBytesMax', 8 * GIB, 'A further upload is refused.'),
  shareMax: limit('uploadBytesPerAccountMax', GIB, 'A further upload of the account is refused.'),
}

export type UploadedFile = {
  readonly path: string
  readonly bytes: number
  /** The digest of the contents, hexadecimal. */
  readonly sha256: string
}

/** A file that is being written. Writes do not wait, because they end in the system's memory, as in nginx. */
export type Upload = {
  /** Writes bytes. Returns false and writes nothing if the account has no room for them. */
  write(bytes: Uint8Array): boolean
  /** Ends the file. Nothing can be written afterwards. */
  end(): UploadedFile
}

/** The files of one request. */
export type UploadBatch = {
  create(): Upload
  /** Deletes all files of the batch, also unfinished ones, and frees their room. May be repeated. */
  delete(): Promise<void>
}

/**
 * The port of uploads. They are files of this machine in any deployment, because a request is served where it arrives.
 *
 * - A file is readable by this user alone, under a meaningless name.
 * - The bytes of all uploads, and of those of an account, are within `uploadBounds`.
 * - No file outlives its request, even if the process crashes.
 */
export type Uploads = {
  /** Whether the disk is short of space for uploads at the moment. */
  readonly isShort: boolean
  /** Begins the files of one request. The caller deletes them when the request is over. */
  begin(accountId: string): UploadBatch
}
