/** The choice of where hosted files are: in the data folder, or in S3. What S3 needs is loaded only for it. */
import { dirname } from 'node:path'
import type { Blobs } from './blobs/blobs.ts'
import { openFolderBlobs } from './blobs/folder-blobs.ts'
import { openSqlBlobRows } from './blobs/sql-blob-rows.ts'
import type { Config } from './config.ts'
import type { DiskRoom } from './lib/runtime/disk-room.ts'
import type { Log } from './lib/runtime/log.ts'
import type { Store } from './store/store.ts'

export type HostedFileParts = { readonly room: DiskRoom; readonly log: Log }

export async function openHostedFiles(
  store: Store,
  { dataFolder, s3, worker }: Config,
  { room, log }: HostedFileParts,
): Promise<Blobs> {
  const rows = openSqlBlobRows(store)
  // The folder of another worker is inside that of the first one. They share a port, so each must find all files.
  const isFirst = worker === 1
  if (!s3) return openFolderBlobs(rows, isFirst ? dataFolder : dirname(dataFolder), { room, isFirst })
  const { openS3Blobs } = await import('./blobs/s3-blobs.ts')
  return openS3Blobs(rows, s3, { dataFolder, room, log })
}
