/** Files that a request brings, for as long as the request lasts: the port that keeps them. */
import { limit } from '../lib/primitives/limit.ts'
import { GIB } from '../lib/primitives/units.ts'

/** Files on the disk, for as long as the requests that brought them: in all, and of one account. */
export const uploadBounds = {
  max: limit('uploadBytesMax', 8 * GIB, 'A further upload is refused.'),
  shareMax: limit('uploadBytesPerAccountMax', GIB, 'A further upload of the account is refused.'),
}

export type UploadedFile = {
  readonly path: string
  readonly bytes: number
  /** Of the contents, hexadecimal. */
  readonly sha256: string
}

/** A file that is being written. Nothing waits: a write ends in the system's memory, as nginx too has it. */
export type Upload = {
  /** False, and nothing written, when the account has no room for more. */
  write(bytes: Uint8Array): boolean
  /** Ends the file. Nothing can be written to it afterwards. */
  end(): UploadedFile
}

/** The files of one request. */
export type UploadBatch = {
  create(): Upload
  /** Removes all files of the batch, also unfinished ones, and gives their room back. Safe to repeat. */
  remove(): Promise<void>
}

/**
 * The port of uploads. They are files of this machine in any deployment: a request is served where it arrives.
 *
 * - A file is readable by this user alone, under a name that tells nothing.
 * - The bytes of all uploads, and of those of an account, are within `uploadBounds`.
 * - Nothing outlives its request, a crash of the process included.
 */
export type Uploads = {
  /** Whether the disk has no room for any at the moment. */
  readonly isShort: boolean
  /** Begins the files of one request. They are to be removed when it is over. */
  begin(accountId: string): UploadBatch
}
