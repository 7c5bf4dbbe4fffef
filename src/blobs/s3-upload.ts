/** Uploads a local file to S3: in one request if it is small, otherwise in parts. Parts are read as they are sent. */
import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { KIB } from '../lib/primitives/units.ts'
import type { StoringHalt } from './blobs.ts'
import { s3Bounds } from './bucket-bounds.ts'
import type { S3Body, S3Client } from './s3-client.ts'
import { s3Failure, type S3Failure } from './s3-failure.ts'

const PIECE_BYTES = 256 * KIB

export type UploadOrder = {
  readonly path: string
  readonly name: string
  readonly contentType: string
  readonly halt: StoringHalt | undefined
}
type Part = { readonly from: number; readonly bytes: number }
type UploadResult = { readonly kind: 'uploaded'; readonly bytes: number } | S3Failure

/** Uploads a file. `uploaded`: S3 has confirmed that the whole file is stored. */
export async function uploadFile(client: S3Client, order: UploadOrder): Promise<UploadResult> {
  const file = await open(order.path, 'r')
  try {
    const { size: bytes } = await file.stat()
    const failure =
      bytes <= s3Bounds.partBytes
        ? await putWhole(client, file, order, bytes)
        : await putParts(client, file, order, bytes)
    return failure ?? (await confirmed(client, order, bytes))
  } finally {
    await file.close()
  }
}

/** Stores bytes in one request. */
export async function putObject(
  client: S3Client,
  { name, contentType, halt }: Omit<UploadOrder, 'path'>,
  body: S3Body,
): Promise<S3Failure | undefined> {
  const headers = { 'content-type': contentType }
  const answer = await client.ask({ method: 'PUT', name, headers, body, halt, deadlineMs: s3Bounds.putMs })
  return answer.kind === 'failed' ? answer : undefined
}

/** Bytes in memory as a body. */
export function bodyOfBytes(bytes: Uint8Array): S3Body {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
  }
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), pieces }
}

const putWhole = async (
  client: S3Client,
  file: FileHandle,
  order: UploadOrder,
  bytes: number,
): Promise<S3Failure | undefined> => putObject(client, order, await bodyOfPart(file, { from: 0, bytes }))

async function putParts(
  client: S3Client,
  file: FileHandle,
  order: UploadOrder,
  bytes: number,
): Promise<S3Failure | undefined> {
  const { name, halt } = order
  const headers = { 'content-type': order.contentType }
  const begun = await client.ask({ method: 'POST', name, query: { uploads: '' }, headers, halt })
  if (begun.kind === 'failed') return begun
  const uploadId = /<UploadId>([^<]{1,1024})<\/UploadId>/.exec(begun.text)?.[1]
  if (uploadId === undefined) return s3Failure('unexpected', begun.status, 'the server began no upload')
  const failure = await sendParts(client, file, order, { uploadId: unescapedXml(uploadId), bytes })
  // Parts of an upload that is not ended cost as much as an object. A failure here is left to the inspection.
  if (failure) await client.ask({ method: 'DELETE', name, query: { uploadId: unescapedXml(uploadId) }, deadlineMs: 0 })
  return failure
}

async function sendParts(
  client: S3Client,
  file: FileHandle,
  { name, halt }: UploadOrder,
  { uploadId, bytes }: { readonly uploadId: string; readonly bytes: number },
): Promise<S3Failure | undefined> {
  const tags: string[] = []
  const { partBytes } = s3Bounds
  for (let from = 0; from < bytes; from += partBytes) {
    const body = await bodyOfPart(file, { from, bytes: Math.min(partBytes, bytes - from) })
    const query = { partNumber: String(tags.length + 1), uploadId }
    const put = await client.ask({ method: 'PUT', name, query, body, halt })
    if (put.kind === 'failed') return put
    const tag = put.headers.get('etag')
    if (tag === undefined) return s3Failure('unexpected', put.status, 'the server gave a part no ETag')
    tags.push(tag)
  }
  const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapedXml(tag)}</ETag></Part>`)
  const space = 'http://s3.amazonaws.com/doc/2006-03-01/'
  const text = `<CompleteMultipartUpload xmlns="${space}">${parts.join('')}</CompleteMultipartUpload>`
  const body = bodyOfBytes(Buffer.from(text))
  const { completionMs: stallMs } = s3Bounds
  const ended = await client.ask({ method: 'POST', name, query: { uploadId }, body, halt, stallMs })
  // An earlier try may have completed the upload, and its answer was lost. `confirmed` finds out.
  return ended.kind === 'failed' && ended.code !== 'NoSuchUpload' ? ended : undefined
}

/** Checks that the whole object is stored. The charge follows this check. */
async function confirmed(client: S3Client, { name, halt }: UploadOrder, bytes: number): Promise<UploadResult> {
  const asked = await client.ask({ method: 'HEAD', name, halt })
  if (asked.kind === 'failed') return asked
  const length = asked.headers.get('content-length')
  if (length === String(bytes)) return { kind: 'uploaded', bytes }
  return s3Failure('damaged', asked.status, `the stored object has ${length} bytes instead of ${bytes}`)
}

/** A part of a file as a body. Its digest is read first. */
async function bodyOfPart(file: FileHandle, part: Part): Promise<S3Body> {
  const hash = createHash('sha256')
  for await (const piece of piecesOf(file, part)) hash.update(piece)
  return { bytes: part.bytes, sha256: hash.digest('hex'), pieces: () => piecesOf(file, part) }
}

async function* piecesOf(file: FileHandle, { from, bytes }: Part): AsyncGenerator<Uint8Array> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes))
  for (let at = 0; at < bytes;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, bytes - at), from + at)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    at += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export const unescapedXml = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|(amp|lt|gt|quot|apos));/g, (_, code: string | undefined, name = '') =>
    code === undefined ? (ENTITIES[name] ?? '') : String.fromCodePoint(Number(code)),
  )

const escapedXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
