/** The bounds of files in S3-compatible storage. They stand apart, so that listing the limits loads nothing of S3. */
import { limit } from '../lib/primitives/limit.ts'
import { HOUR_MS, KIB, MIB } from '../lib/primitives/units.ts'

export const s3Bounds = {
  partBytes: limit('s3PartBytes', 8 * MIB, 'A larger file is uploaded in parts of this size.'),
  triesMax: limit('s3TriesMax', 3, 'A request to the S3 storage fails after this many tries.'),
  stallMs: limit('s3StallMs', 15_000, 'A request to the S3 storage without any progress for this time is tried again.'),
  /** S3 may take minutes to put many parts together. */
  completionMs: limit('s3CompletionMs', 120_000, 'An upload to the S3 storage that takes longer to complete fails.'),
  putMs: limit('s3PutMs', 30_000, 'An image that takes longer to store is returned in the answer instead.'),
  removalMs: limit('s3RemovalMs', 5_000, 'A file whose removal from the S3 storage takes longer is removed later.'),
  uploadsMax: limit('s3UploadsMax', 4, 'Further videos wait for their upload to the S3 storage.'),
  readAheadBytes: limit('s3ReadAheadBytes', 512 * KIB, 'The S3 storage waits when a client is this far behind.'),
  resumesMax: limit('s3ResumesMax', 2, 'A download is cut after this many broken reads of the S3 storage in a row.'),
  answerBytesMax: limit('s3AnswerBytesMax', 4 * MIB, 'A longer list or error of the S3 storage is not read.'),
  pagesMax: limit('s3InspectionPagesMax', 10, 'An hourly comparison of files and rows goes on the next time.'),
  orphanMs: limit('s3OrphanMs', 24 * HOUR_MS, 'A younger file without a row may still get one, so it is not reported.'),
  scratchMs: limit('s3ScratchMs', HOUR_MS, 'A local file that nobody has touched for this time is removed.'),
}
