/**
 * Reads an object at the pace of its reader. When its connection breaks, the rest is requested again, and only from the
 * same object.
 */
import type { IncomingResponse, Sink } from '../outbound/exchange.ts'
import type { BlobPart, BlobReader, UnreadableBlob } from './blobs.ts'
import type { FileFacts } from './blob-files.ts'
import { s3Bounds } from './bucket-bounds.ts'
import type { OpenAnswer, S3Client } from './s3-client.ts'
import { isAbsent, s3Failure, type S3Failure } from './s3-failure.ts'

export type OpenedObject =
  | { readonly kind: 'reader'; readonly reader: BlobReader }
  | { readonly kind: 'absent' }
  | { readonly kind: UnreadableBlob; readonly failure: S3Failure }

/** Opens an object for a part of it. Its length must be the one in the row. */
export async function openObject(client: S3Client, file: FileFacts, part: BlobPart): Promise<OpenedObject> {
  const started = await request(client, file, part, undefined)
  if (started.kind === 'failed') {
    if (isAbsent(started)) return { kind: 'absent' }
    return { kind: started.code === 'damaged' ? 'damaged' : 'unavailable', failure: started }
  }
  return { kind: 'reader', reader: new ObjectReader(client, file, { part, body: started.body, etag: started.etag }) }
}

type StartedBody = {
  readonly kind: 'started'
  readonly body: ObjectBody | undefined
  readonly etag: string | undefined
}

/** Requests a part. An empty part only checks that the object exists. */
async function request(
  client: S3Client,
  { name, bytes }: FileFacts,
  { from, to }: BlobPart,
  etag: string | undefined,
): Promise<StartedBody | S3Failure> {
  const isEmpty = to < from
  const isWhole = from === 0 && to === bytes - 1
  const headers = {
    ...(isEmpty || isWhole ? {} : { range: `bytes=${from}-${to}` }),
    ...(etag === undefined ? {} : { 'if-match': etag }),
  }
  const opened = await openTwice(client, { method: isEmpty ? 'HEAD' : 'GET', name, headers })
  if (opened.kind === 'failed') return opened
  const problem = lengthProblem(opened.response, bytes, isEmpty || isWhole ? undefined : { from, to })
  if (problem) {
    opened.response.cancel()
    opened.watch.end()
    return problem
  }
  const tag = opened.response.headers.get('etag')
  if (!isEmpty) return { kind: 'started', body: new ObjectBody(opened), etag: tag }
  opened.response.release()
  opened.watch.end()
  return { kind: 'started', body: undefined, etag: tag }
}

/** A client waits for the answer, so a failure that may pass gets one more try, at once. */
async function openTwice(client: S3Client, ask: Parameters<S3Client['open']>[0]): Promise<OpenAnswer | S3Failure> {
  const first = await client.open(ask)
  const mayPass = first.kind === 'failed' && first.code !== 'stalled' && (first.status === 0 || first.status >= 500)
  return mayPass ? client.open(ask) : first
}

/** Why an answer is not the requested part of an object of so many bytes. */
function lengthProblem(
  { status, headers }: Pick<IncomingResponse, 'status' | 'headers'>,
  bytes: number,
  part: BlobPart | undefined,
): S3Failure | undefined {
  if (!part) {
    const length = headers.get('content-length')
    if (status === 200 && length === String(bytes)) return undefined
    if (status !== 200 || length === undefined) return s3Failure('unexpected', status, 'the answer has no length')
    return s3Failure('damaged', status, `the object has ${length} bytes, and its row says ${bytes}`)
  }
  const range = headers.get('content-range') ?? ''
  if (status === 206 && range === `bytes ${part.from}-${part.to}/${bytes}`) return undefined
  const total = /^bytes \d+-\d+\/(\d+)$/.exec(range)?.[1]
  if (status === 206 && total !== undefined && total !== String(bytes)) {
    return s3Failure('damaged', status, `the object has ${total} bytes, and its row says ${bytes}`)
  }
  return s3Failure('unexpected', status, `the server answered ${status} '${range}' to a request for a range`)
}

/** The body of an answer. It holds little in memory: the server waits when the reader is behind. */
class ObjectBody implements Sink {
  isOver = false
  private readonly opened: OpenAnswer
  private readonly queue: Buffer[] = []
  private queuedBytes = 0
  private wake: (() => void) | undefined

  constructor(opened: OpenAnswer) {
    this.opened = opened
    // The reader may be slow from here on. That is no fault of the server.
    opened.watch.rest()
    opened.response.deliver(this)
  }

  part(bytes: Buffer): void {
    if (bytes.length === 0) return
    // The bytes belong to the socket.
    this.queue.push(Buffer.from(bytes))
    this.queuedBytes += bytes.length
    if (this.queuedBytes > s3Bounds.readAheadBytes) this.opened.response.pause()
    this.wake?.()
  }

  end(last: Buffer): void {
    this.part(last)
    this.over()
  }

  broken(): void {
    this.over()
  }

  /** Fills `piece` from `at` on. Resolves to the new position, which is short of the end only if nothing more comes. */
  async fill(piece: Uint8Array, from: number): Promise<number> {
    let at = from
    while (at < piece.length) {
      const first = this.queue[0]
      if (first) {
        const bytes = Math.min(first.length, piece.length - at)
        piece.set(first.subarray(0, bytes), at)
        at += bytes
        this.queuedBytes -= bytes
        if (bytes === first.length) this.queue.shift()
        else this.queue[0] = first.subarray(bytes)
      } else if (this.isOver) break
      else await this.more()
    }
    return at
  }

  close(): void {
    if (!this.isOver) this.opened.response.cancel()
    this.over()
  }

  /** Waits for the next bytes. Silence is a stall only now. */
  private async more(): Promise<void> {
    const { watch, response } = this.opened
    watch.beat()
    response.resume()
    await new Promise<void>((resolve) => (this.wake = resolve))
    this.wake = undefined
    if (!this.isOver) watch.rest()
  }

  private over(): void {
    this.isOver = true
    this.opened.watch.end()
    this.wake?.()
  }
}

type Start = { readonly part: BlobPart; readonly body: ObjectBody | undefined; readonly etag: string | undefined }

class ObjectReader implements BlobReader {
  private readonly client: S3Client
  private readonly file: FileFacts
  private readonly etag: string | undefined
  private to: number
  private body: ObjectBody | undefined
  /** The position of the next byte of the body. */
  private at: number
  private isClosed = false

  constructor(client: S3Client, file: FileFacts, { part, body, etag }: Start) {
    this.client = client
    this.file = file
    this.etag = etag
    this.to = part.to
    this.at = part.from
    this.body = body
  }

  async read(piece: Uint8Array, at: number): Promise<number> {
    const wanted = piece.subarray(0, Math.max(0, Math.min(piece.length, this.file.bytes - at)))
    if (at !== this.at || at + wanted.length - 1 > this.to) this.leave()
    this.at = at
    let filled = 0
    for (let breaks = 0; filled < wanted.length && breaks <= s3Bounds.resumesMax; breaks++) {
      if (!this.body && !(await this.resume())) break
      const reached = (await this.body?.fill(wanted, filled)) ?? filled
      if (reached > filled) breaks = 0
      this.at += reached - filled
      filled = reached
      if (filled < wanted.length) this.leave()
    }
    return filled
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.leave()
  }

  private leave(): void {
    this.body?.close()
    this.body = undefined
  }

  /** Requests the rest. False if there is no rest to be had. */
  private async resume(): Promise<boolean> {
    if (this.isClosed) return false
    this.to = this.file.bytes - 1
    const part = { from: this.at, to: this.to }
    const started = await request(this.client, this.file, part, this.etag)
    if (started.kind === 'failed') return false
    this.body = started.body
    if (this.isClosed) this.leave()
    return this.body !== undefined
  }
}
