/**
 * Hosted files in S3-compatible storage, each named by the digest of its id. A video is written to a local scratch file
 * first, and uploaded from there. Any number of processes may use the same bucket.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { readdir, stat, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskRoom } from '../lib/runtime/disk-room.ts'
import type { Log } from '../lib/runtime/log.ts'
import { Slots } from '../lib/primitives/slots.ts'
import type { BlobFiles, FileFacts, StoredFile, UnfinishedFile } from './blob-files.ts'
import type { BlobRows } from './blob-rows.ts'
import type { BlobFinding, BlobPart, BlobReader, Blobs, StoringHalt, UnreadableBlob } from './blobs.ts'
import { s3Bounds } from './bucket-bounds.ts'
import { S3Client } from './s3-client.ts'
import { s3Failure, type S3Failure } from './s3-failure.ts'
import { S3Inspection } from './s3-inspection.ts'
import { openObject } from './s3-reader.ts'
import type { S3Settings } from './bucket-settings.ts'
import { bodyOfBytes, putObject, uploadFile } from './s3-upload.ts'
import { StoredBlobs } from './stored-blobs.ts'

type S3Step = 'store' | 'read' | 'remove' | 'list'

const stepNames: Readonly<Record<S3Step, string>> = {
  store: 'store a file',
  read: 'read a part of a file',
  remove: 'remove a file',
  list: 'list files',
}
const problemOf = (step: S3Step, { message }: S3Failure): string => `cannot ${stepNames[step]}: ${message}`

type S3Parts = {
  /** Where scratch files go, in a folder of their own. */
  readonly dataFolder: string
  readonly room: Pick<DiskRoom, 'isShort'>
  readonly log: Log
}

/** Opens hosted files whose bytes are in S3-compatible storage. */
export const openS3Blobs = (rows: BlobRows, settings: S3Settings, parts: S3Parts): Blobs =>
  new StoredBlobs(rows, new S3Files(settings, parts))

class S3Files implements BlobFiles {
  readonly place: string
  private readonly client: S3Client
  private readonly inspection: S3Inspection
  private readonly scratch: string
  private readonly room: S3Parts['room']
  private readonly log: Log
  private readonly uploads = new Slots(s3Bounds.uploadsMax)
  /** The steps that failed when they were last tried. While storing is among them, nothing that needs it is begun. */
  private readonly failing = new Set<S3Step>()

  constructor(settings: S3Settings, { dataFolder, room, log }: S3Parts) {
    this.client = new S3Client(settings)
    this.inspection = new S3Inspection(this.client)
    this.place = `${settings.endpoint}/${settings.bucket}/${settings.prefix}`
    this.scratch = join(dataFolder, 'scratch')
    this.room = room
    this.log = log
  }

  get isShortOfRoom(): boolean {
    return this.room.isShort || this.failing.has('store')
  }

  async put(name: string, bytes: Uint8Array, contentType: string): Promise<StoredFile> {
    const order = { name, contentType, halt: undefined }
    const failure = await putObject(this.client, order, bodyOfBytes(bytes))
    this.learn('store', failure)
    return failure ?? { kind: 'stored', bytes: bytes.length }
  }

  begin(name: string, contentType: string): UnfinishedFile {
    const path = join(this.scratch, `${name}.part`)
    return {
      path,
      finish: (halt) => this.uploads.run(() => this.upload({ path, name, contentType, halt })),
      discard: () => deleteLocal(path),
    }
  }

  async open(file: FileFacts, part: BlobPart): Promise<BlobReader | UnreadableBlob | undefined> {
    const opened = await openObject(this.client, file, part)
    switch (opened.kind) {
      case 'reader':
        this.learn('read', undefined)
        return opened.reader
      case 'absent':
        // A withdrawn file is not asked for. The inspection reports the same.
        this.log('error', 'blobs.file_missing', { file: file.name })
        return undefined
      case 'damaged':
        this.log('error', 'blobs.file_damaged', { file: file.name, message: opened.failure.message })
        return 'damaged'
      case 'unavailable':
        this.learn('read', opened.failure)
        return 'unavailable'
    }
  }

  async delete(name: string): Promise<boolean> {
    // A client may wait for it, and a sweep repeats it.
    const { removalMs: deadlineMs } = s3Bounds
    const answer = await this.client.ask({ method: 'DELETE', name, deadlineMs, stallMs: deadlineMs })
    this.learn('remove', answer.kind === 'failed' ? answer : undefined)
    return answer.kind === 'done'
  }

  async recover(): Promise<void> {
    mkdirSync(this.scratch, { recursive: true, mode: 0o700 })
    chmodSync(this.scratch, 0o700)
    await this.deleteScratch()
  }

  /** Deletes forgotten scratch files. While requests fail, a small file is stored to see whether they still do. */
  async tend(): Promise<void> {
    await this.deleteScratch()
    if (this.failing.size > 0) await this.examine()
  }

  async inspect(rows: BlobRows): Promise<readonly BlobFinding[]> {
    const found = await this.inspection.run(rows)
    if (!('code' in found)) return found
    this.learn('list', found)
    return []
  }

  async examine(): Promise<string | undefined> {
    const name = `check-${crypto.randomUUID()}`
    const body = bodyOfBytes(Buffer.from('tollgate'))
    const put = await putObject(this.client, { name, contentType: 'text/plain', halt: undefined }, body)
    this.learn('store', put)
    if (put) return problemOf('store', put)
    const read = await this.readPart(name)
    const deleted = await this.delete(name)
    const listed = await this.inspection.probe()
    this.learn('read', read)
    this.learn('list', listed)
    if (read) return problemOf('read', read)
    if (!deleted) return problemOf('remove', s3Failure('unexpected', 0, 'see the log for the reason'))
    return listed && problemOf('list', listed)
  }

  private async upload(order: Parameters<typeof uploadFile>[1]): Promise<StoredFile> {
    const uploaded = await uploadFile(this.client, order)
    if (uploaded.kind === 'uploaded') {
      this.learn('store', undefined)
      await deleteLocal(order.path)
      return { kind: 'stored', bytes: uploaded.bytes }
    }
    if (!isHalted(order.halt)) this.learn('store', uploaded)
    // It is tried again, and must not count as forgotten meanwhile.
    const now = new Date()
    await utimes(order.path, now, now)
    return uploaded
  }

  private async readPart(name: string): Promise<S3Failure | undefined> {
    const read = await this.client.ask({ method: 'GET', name, headers: { range: 'bytes=4-7' } })
    if (read.kind === 'failed') return read
    if (read.status === 206 && read.text === 'gate') return undefined
    return s3Failure('unexpected', read.status, `the server answered ${read.status} to a request for a range`)
  }

  /** Notes how a step ended. Only a change is logged. */
  private learn(step: S3Step, failure: S3Failure | undefined): void {
    if (!failure) {
      if (!this.failing.delete(step)) return
      return this.log('info', 'blobs.storage_works', { place: this.place, step })
    }
    if (this.failing.has(step)) return
    this.failing.add(step)
    const { code, status, message } = failure
    this.log('error', 'blobs.storage_failing', { place: this.place, step, code, status, message })
  }

  /** Another process may use the same folder, so only files are deleted that nobody has touched for long. */
  private async deleteScratch(): Promise<void> {
    for (const name of await readdir(this.scratch)) {
      const path = join(this.scratch, name)
      const touchedMs = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Number.POSITIVE_INFINITY,
      )
      if (touchedMs < Date.now() - s3Bounds.scratchMs) await deleteLocal(path)
    }
  }
}

const isHalted = (halt: StoringHalt | undefined): boolean => halt?.upstreamStopped ?? false

async function deleteLocal(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
