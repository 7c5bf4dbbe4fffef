/** Hosted files in the strict S3 server, as a port of its own on an empty store. */
import type { Blob, BlobDraft, BlobReader, Blobs } from '../../src/blobs/blobs.ts'
import { openS3Blobs } from '../../src/blobs/s3-blobs.ts'
import type { S3Settings } from '../../src/blobs/bucket-settings.ts'
import { openSqlBlobRows } from '../../src/blobs/sql-blob-rows.ts'
import type { PortUnderTest } from '../../src/store/port-contract.ts'
import type { Store } from '../../src/store/store.ts'
import { onSqlite } from '../../src/store/sqlite-contract.ts'
import { TestS3 } from './s3.ts'

export type LogLine = { readonly level: string; readonly event: string; readonly fields: Record<string, unknown> }

export type S3Port = PortUnderTest<Blobs> & {
  readonly s3: TestS3
  readonly folder: string
  readonly lines: readonly LogLine[]
  /** Opens the files as another instance does: the same rows and bucket, and a data folder of its own. */
  another(dataFolder: string): Blobs
  /** Whether the disk is short of space. */
  readonly room: { isShort: boolean }
}

export const PREFIX = 'a/b/'
export const image: BlobDraft = { accountId: 'a', purpose: 'image', contentType: 'image/png', keptMs: 3_600_000 }
export const video: BlobDraft = { accountId: 'a', purpose: 'video', contentType: 'video/mp4', keptMs: 3_600_000 }

export async function openS3Port(
  settings: Partial<S3Settings> = {},
  onDatabase: typeof onSqlite = onSqlite,
): Promise<S3Port> {
  const s3 = await TestS3.start()
  const lines: LogLine[] = []
  const room = { isShort: false }
  const used: S3Settings = {
    ...s3.identity,
    endpoint: s3.origin,
    bucket: s3.bucket,
    prefix: PREFIX,
    style: 'path',
    ...settings,
  }
  const openIn = (store: Store, dataFolder: string): Blobs =>
    openS3Blobs(openSqlBlobRows(store), used, {
      dataFolder,
      room,
      log: (level, event, fields = {}) => lines.push({ level, event, fields }),
    })
  const under = await onDatabase((store) => openIn(store, store.folder))()
  return {
    ...under,
    s3,
    lines,
    room,
    folder: under.store.folder,
    another: (dataFolder) => openIn(under.store, dataFolder),
    async close() {
      await under.close()
      await s3.stop()
    },
  }
}

export async function find(port: Blobs, id: string, purpose: 'image' | 'video' = 'image'): Promise<Blob> {
  const found = await port.find(id, purpose)
  if (found.kind !== 'blob') throw new Error(found.kind)
  return found
}

export async function openFile(blob: Blob): Promise<BlobReader> {
  const opened = await blob.open()
  if (!opened || typeof opened === 'string') throw new Error(opened ?? 'it is gone')
  return opened
}

/** Reads until the end, or until nothing more comes. */
export async function readAll(blob: Blob, pieceBytes = 64 * 1024): Promise<Buffer> {
  const reader = await openFile(blob)
  const pieces: Buffer[] = []
  for (let at = 0; at < blob.bytes;) {
    const piece = Buffer.alloc(pieceBytes)
    const bytes = await reader.read(piece, at)
    if (bytes === 0) break
    pieces.push(piece.subarray(0, bytes))
    at += bytes
  }
  await reader.close()
  return Buffer.concat(pieces)
}
