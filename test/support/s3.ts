/**
 * A strict S3 server on loopback. It verifies each signature and refuses what S3 refuses, in its codes. Tests can tell
 * it to fail, to be slow or silent, to cut answers, to redirect and to lie.
 *
 * Sources, read on 2026-11-26, under https://docs.aws.amazon.com/AmazonS3/latest/:
 * - API/ErrorResponses.html: codes and statuses
 * - userguide/qfacts.html: part numbers from 1 to 10,000, and 5 MiB at least for all parts but the last
 * - API/API_CompleteMultipartUpload.html: the order and the ETags of parts, and a 200 that may hold an error
 * - API/API_GetObject.html: one range, 206 and 416
 * - API/API_ListObjectsV2.html, API/API_ListMultipartUploads.html
 * - API/API_DeleteObject.html: 204 also for what is not there
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { refusalOf, type S3Identity, type S3Refusal } from './s3-signature.ts'

const MIB = 1024 ** 2
const PART_BYTES_MIN = 5 * MIB
const PARTS_MAX = 10_000
const LIST_MAX = 1_000

export type StoredObject = {
  readonly bytes: Buffer
  readonly etag: string
  readonly contentType: string
  readonly modifiedMs: number
}
type StartedUpload = {
  readonly key: string
  readonly contentType: string
  readonly initiatedMs: number
  readonly parts: Map<number, Pick<StoredObject, 'bytes' | 'etag'>>
}

export type S3Operation =
  | ('PutObject' | 'GetObject' | 'HeadObject' | 'DeleteObject' | 'ListObjectsV2' | 'ListMultipartUploads')
  | ('CreateMultipartUpload' | 'UploadPart' | 'CompleteMultipartUpload' | 'AbortMultipartUpload')

export type S3Request = {
  readonly operation: S3Operation
  readonly bucket: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
}

/** What the server does to a request instead of serving it, or while serving it. */
export type S3Fault =
  | { readonly kind: 'error'; readonly status: number; readonly code: string }
  /** The request is served that much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Nothing is ever answered. */
  | { readonly kind: 'silent' }
  /** The connection breaks before the answer. */
  | { readonly kind: 'reset' }
  /** The request is served, and the connection breaks before the answer. */
  | { readonly kind: 'served_unanswered' }
  /** The answer breaks after so many bytes of its body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The answer stops after so many bytes of its body, and the connection stays. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  | { readonly kind: 'redirect'; readonly location: string }
  /** The range of the request is ignored: the whole object with 200. */
  | { readonly kind: 'whole' }
  /** 200 with an error in the body, as CompleteMultipartUpload may answer. */
  | { readonly kind: 'error_in_200'; readonly code: string }

type Reply = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

const bad = (status: number, code: string, message = code): S3Refusal => ({ status, code, message })
const xml = (text: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n${text}`
const escaped = (text: string): string => text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)
const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

function replyOf({ status, code, message }: S3Refusal): Reply {
  const text = `<Error><Code>${code}</Code><Message>${escaped(message)}</Message><RequestId>TEST</RequestId></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body: xml(text) }
}

export class TestS3 {
  readonly identity: S3Identity = {
    accessKeyId: 'AKIDTOLLGATETEST0000',
    secretAccessKey: 'secret/of+the/tests0000000000000000000000',
    region: 'eu-test-1',
  }
  readonly bucket = 'files'
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, StartedUpload>()
  /** Every request that had a good signature. */
  readonly requests: S3Request[] = []
  /** The code of every refusal, also of signatures. */
  readonly refusals: string[] = []
  /** Bytes of bodies that were handed to connections. */
  sentBytes = 0
  /** Added to the server's clock. */
  skewMs = 0
  /** Decides on a fault of a request, before it is served. */
  plan: (request: S3Request) => S3Fault | undefined = () => undefined
  private readonly server: Server

  private constructor(server: Server) {
    this.server = server
  }

  static async start(): Promise<TestS3> {
    const server = createServer()
    const s3 = new TestS3(server)
    server.on('request', (request, response) => {
      s3.answer(request, response).catch(() => response.socket?.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return s3
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** The variables that point a gateway to this server. */
  get env(): Record<string, string> {
    return {
      TOLLGATE_S3_ENDPOINT: this.origin,
      TOLLGATE_S3_BUCKET: this.bucket,
      TOLLGATE_S3_REGION: this.identity.region,
      TOLLGATE_S3_ACCESS_KEY_ID: this.identity.accessKeyId,
      TOLLGATE_S3_SECRET_ACCESS_KEY: this.identity.secretAccessKey,
    }
  }

  get nowMs(): number {
    return Date.now() + this.skewMs
  }

  /** The operations so far, in order. */
  get operations(): readonly S3Operation[] {
    return this.requests.map(({ operation }) => operation)
  }

  /** Stores an object without a request. */
  store(key: string, bytes: Buffer, { modifiedMs = this.nowMs, contentType = 'application/octet-stream' } = {}): void {
    this.objects.set(key, { bytes, etag: `"${md5(bytes)}"`, contentType, modifiedMs })
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>((resolve) => this.server.close(() => resolve()))
  }

  private async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = incoming.headers as Record<string, string>
    const [method = '', target = ''] = [incoming.method, incoming.url]
    const wire = { method, target, headers }
    const refused = refusalOf(wire, this.identity, this.nowMs)
    const body = await bodyOf(incoming)
    const request = refused ?? requestOf(wire)
    if ('code' in request) return this.send(response, method, this.refused(request))
    this.requests.push(request)
    const fault = this.plan(request)
    const reply = await this.replyTo(request, body, fault)
    if (reply === 'silent') return
    if (reply === 'reset') return void response.socket?.destroy()
    await this.send(response, method, reply, fault)
  }

  private refused(refusal: S3Refusal): Reply {
    this.refusals.push(refusal.code)
    return replyOf(refusal)
  }

  private async replyTo(
    request: S3Request,
    body: Buffer,
    fault: S3Fault | undefined,
  ): Promise<Reply | 'silent' | 'reset'> {
    if (fault?.kind === 'silent' || fault?.kind === 'reset') return fault.kind
    if (fault?.kind === 'error') return replyOf(bad(fault.status, fault.code))
    if (fault?.kind === 'error_in_200') return { ...replyOf(bad(200, fault.code)), status: 200 }
    if (fault?.kind === 'redirect') {
      return { ...replyOf(bad(307, 'TemporaryRedirect')), headers: { location: fault.location } }
    }
    if (fault?.kind === 'slow') await Bun.sleep(fault.ms)
    const wanted = fault?.kind === 'whole' ? { ...request, headers: { ...request.headers, range: '' } } : request
    const served = this.serve(wanted, body)
    if (fault?.kind === 'served_unanswered') return 'reset'
    return 'code' in served ? this.refused(served) : served
  }

  private serve(request: S3Request, body: Buffer): Reply | S3Refusal {
    const { bucket, headers } = request
    if (bucket !== this.bucket) return bad(404, 'NoSuchBucket', 'The specified bucket does not exist')
    const digest = headers['x-amz-content-sha256']
    const isSigned = digest !== 'UNSIGNED-PAYLOAD'
    if (isSigned && digest !== createHash('sha256').update(body).digest('hex')) {
      return bad(400, 'XAmzContentSHA256Mismatch', "The provided 'x-amz-content-sha256' header does not match.")
    }
    switch (request.operation) {
      case 'PutObject':
        return this.putObject(request, body)
      case 'GetObject':
      case 'HeadObject':
        return this.getObject(request)
      case 'DeleteObject':
        this.objects.delete(request.key)
        return { status: 204 }
      case 'ListObjectsV2':
        return this.listObjects(request)
      case 'ListMultipartUploads':
        return this.listUploads(request)
      default:
        return this.serveUpload(request, body)
    }
  }

  private putObject({ key, headers }: S3Request, body: Buffer): Reply | S3Refusal {
    if (headers['content-length'] === undefined) return bad(411, 'MissingContentLength')
    this.store(key, body, { contentType: headers['content-type'] ?? 'binary/octet-stream' })
    return { status: 200, headers: { etag: `"${md5(body)}"` } }
  }

  private getObject({ key, headers }: S3Request): Reply | S3Refusal {
    const object = this.objects.get(key)
    if (!object) return bad(404, 'NoSuchKey', 'The specified key does not exist.')
    const { bytes, etag, contentType, modifiedMs } = object
    const condition = headers['if-match']
    if (condition !== undefined && condition !== etag) return bad(412, 'PreconditionFailed')
    const shared = { etag, 'content-type': contentType, 'accept-ranges': 'bytes' }
    const common = { ...shared, 'last-modified': new Date(modifiedMs).toUTCString() }
    const match = /^bytes=(\d+)-(\d*)$/.exec(headers['range'] ?? '')
    if (!match) return { status: 200, headers: common, body: bytes }
    const [from, to] = [Number(match[1]), Math.min(Number(match[2] || bytes.length - 1), bytes.length - 1)]
    if (from >= bytes.length) return bad(416, 'InvalidRange', 'The requested range is not satisfiable')
    const range = `bytes ${from}-${to}/${bytes.length}`
    return { status: 206, headers: { ...common, 'content-range': range }, body: bytes.subarray(from, to + 1) }
  }

  private listObjects({ query }: S3Request): Reply {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
    const most = Math.min(LIST_MAX, Number(query.get('max-keys') ?? LIST_MAX))
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted()
    const page = keys.slice(0, most)
    const isCut = keys.length > page.length
    const next = isCut ? `<NextContinuationToken>${escaped(page.at(-1) ?? '')}</NextContinuationToken>` : ''
    const contents = page.map((key) => {
      const { bytes, etag, modifiedMs } = this.objects.get(key) as StoredObject
      const time = new Date(modifiedMs).toISOString()
      const facts = `<LastModified>${time}</LastModified><ETag>${escaped(etag)}</ETag><Size>${bytes.length}</Size>`
      return `<Contents><Key>${escaped(key)}</Key>${facts}<StorageClass>STANDARD</StorageClass></Contents>`
    })
    const head = `<Name>${this.bucket}</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${isCut}</IsTruncated>`
    return { status: 200, body: xml(`<ListBucketResult>${head}${next}${contents.join('')}</ListBucketResult>`) }
  }

  private listUploads({ query }: S3Request): Reply {
    const prefix = query.get('prefix') ?? ''
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix))
    const uploads = found.map(([id, { key, initiatedMs }]) => {
      const time = new Date(initiatedMs).toISOString()
      return `<Upload><Key>${escaped(key)}</Key><UploadId>${id}</UploadId><Initiated>${time}</Initiated></Upload>`
    })
    const head = '<IsTruncated>false</IsTruncated>'
    const text = `<ListMultipartUploadsResult>${head}${uploads.join('')}</ListMultipartUploadsResult>`
    return { status: 200, body: xml(text) }
  }

  private serveUpload(request: S3Request, body: Buffer): Reply | S3Refusal {
    const { operation, key, query, headers } = request
    if (operation === 'CreateMultipartUpload') {
      const id = randomBytes(12).toString('hex')
      const contentType = headers['content-type'] ?? 'binary/octet-stream'
      this.uploads.set(id, { key, contentType, initiatedMs: this.nowMs, parts: new Map() })
      const names = `<Bucket>${this.bucket}</Bucket><Key>${escaped(key)}</Key><UploadId>${id}</UploadId>`
      const text = `<InitiateMultipartUploadResult>${names}</InitiateMultipartUploadResult>`
      return { status: 200, body: xml(text) }
    }
    const id = query.get('uploadId') ?? ''
    const upload = this.uploads.get(id)
    if (!upload || upload.key !== key) return bad(404, 'NoSuchUpload', 'The specified upload does not exist.')
    if (operation === 'UploadPart') return uploadPart(upload, request, body)
    if (operation === 'CompleteMultipartUpload') return this.complete(id, upload, String(body))
    this.uploads.delete(id)
    return { status: 204 }
  }

  private complete(id: string, { key, contentType, parts }: StartedUpload, text: string): Reply | S3Refusal {
    const listed = [...text.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
      number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
      etag: (/<ETag>(.*?)<\/ETag>/.exec(part)?.[1] ?? '').replaceAll(/&quot;|&#34;|"/g, ''),
    }))
    if (!text.includes('<CompleteMultipartUpload') || listed.length === 0) return bad(400, 'MalformedXML')
    if (listed.some(({ number }, i) => i > 0 && number <= (listed[i - 1]?.number ?? 0))) {
      return bad(400, 'InvalidPartOrder', 'The list of parts was not in ascending order.')
    }
    const found = listed.map(({ number, etag }) => {
      const part = parts.get(number)
      return part?.etag === `"${etag}"` ? part : undefined
    })
    if (found.includes(undefined)) return bad(400, 'InvalidPart', 'One or more of the specified parts was not found.')
    const whole = found as readonly Pick<StoredObject, 'bytes' | 'etag'>[]
    if (whole.slice(0, -1).some(({ bytes }) => bytes.length < PART_BYTES_MIN)) {
      return bad(400, 'EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size')
    }
    this.uploads.delete(id)
    const digests = Buffer.concat(whole.map(({ etag }) => Buffer.from(etag.slice(1, -1), 'hex')))
    const etag = `"${md5(digests)}-${whole.length}"`
    const bytes = Buffer.concat(whole.map((part) => part.bytes))
    this.objects.set(key, { bytes, etag, contentType, modifiedMs: this.nowMs })
    const facts = `<Key>${escaped(key)}</Key><ETag>${escaped(etag)}</ETag>`
    return { status: 200, body: xml(`<CompleteMultipartUploadResult>${facts}</CompleteMultipartUploadResult>`) }
  }

  private async send(
    response: ServerResponse,
    method: string,
    { status, headers = {}, body = '' }: Reply,
    fault?: S3Fault,
  ): Promise<void> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    // Node forbids a length beside 204.
    const length = status === 204 ? {} : { 'content-length': String(bytes.length) }
    response.writeHead(status, { 'x-amz-request-id': 'TEST', server: 'TestS3', ...headers, ...length })
    if (method === 'HEAD') return void response.end()
    const isBroken = fault?.kind === 'cut' || fault?.kind === 'stall'
    const end = isBroken ? Math.min(fault.afterBytes, bytes.length) : bytes.length
    for (let at = 0; at < end && !response.destroyed; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, Math.min(end, at + PIECE_BYTES))
      this.sentBytes += piece.length
      if (!response.write(piece)) await drained(response)
    }
    if (!isBroken) return void response.end()
    // The head is on its way even without a byte of the body.
    response.flushHeaders()
    await Bun.sleep(20)
    if (fault.kind === 'cut') response.socket?.destroy()
  }
}

const PIECE_BYTES = 64 * 1024

async function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  response.once('drain', resolve)
  response.once('close', resolve)
  await promise
  response.off('drain', resolve)
  response.off('close', resolve)
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

function uploadPart({ parts }: StartedUpload, { query }: S3Request, body: Buffer): Reply | S3Refusal {
  const number = Number(query.get('partNumber'))
  if (!Number.isInteger(number) || number < 1 || number > PARTS_MAX) {
    return bad(400, 'InvalidArgument', `Part number must be an integer between 1 and ${PARTS_MAX}, inclusive`)
  }
  const etag = `"${md5(body)}"`
  parts.set(number, { bytes: body, etag })
  return { status: 200, headers: { etag } }
}

/** The operation of a request in the style that names the bucket in the path, or in the host. */
function requestOf({ method, target, headers }: Parameters<typeof refusalOf>[0]): S3Request | S3Refusal {
  const [path = '', search = ''] = target.split('?')
  const query = new URLSearchParams(search)
  const [, inHost] = /^([a-z\d.-]+?)\.localhost/.exec(headers['host'] ?? '') ?? []
  const names = path.slice(1).split('/')
  const bucket = inHost ?? decodeURIComponent(names.shift() ?? '')
  const key = names.map(decodeURIComponent).join('/')
  const operation = operationOf(method, key, query)
  if (!operation) return bad(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.')
  return { operation, bucket, key, query, headers }
}

function operationOf(method: string, key: string, query: URLSearchParams): S3Operation | undefined {
  const has = (name: string): boolean => query.has(name)
  if (key === '') {
    if (method !== 'GET') return undefined
    if (has('uploads')) return 'ListMultipartUploads'
    return query.get('list-type') === '2' ? 'ListObjectsV2' : undefined
  }
  if (method === 'GET') return 'GetObject'
  if (method === 'HEAD') return 'HeadObject'
  if (method === 'PUT') return has('uploadId') ? 'UploadPart' : 'PutObject'
  if (method === 'DELETE') return has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'
  if (method === 'POST' && has('uploads')) return 'CreateMultipartUpload'
  return method === 'POST' && has('uploadId') ? 'CompleteMultipartUpload' : undefined
}
