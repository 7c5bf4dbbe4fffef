/**
 * Serves the files of images and videos to everyone who has the address, whole or in part, at the pace of the client.
 * The headers keep a browser from running anything in a file, and from passing its address on.
 */
import type { Blob, BlobPart, BlobPurpose, Blobs, UnreadableBlob } from '../blobs/blobs.ts'
import type { Failure } from '../domain/failure.ts'
import { statusOf, type VideoStage } from '../domain/video-task.ts'
import { writeFailure } from '../formats/core/openai-failure.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { ReplyHeaders } from '../inbound/reply-head.ts'
import { KIB } from '../lib/primitives/units.ts'
import type { Tasks } from '../video/tasks.ts'
import { IpRateLimiter, type VisitorLimits } from './ip-rate-limiter.ts'
import { NO_TASK, notCompleted } from './videos.ts'
import { limit } from '../lib/primitives/limit.ts'

const PIECE_BYTES = 256 * KIB

const NOT_FOUND: Failure = { kind: 'not_found', message: 'There is no such file.' }
const EXPIRED: Failure = {
  kind: 'expired',
  message: 'This file has expired. Its URL was valid for a limited time.',
}
const UNREADABLE: Readonly<Record<UnreadableBlob, Failure>> = {
  unavailable: {
    kind: 'unavailable',
    message: 'The storage of this file does not answer at the moment.',
    retryAfterMs: 10_000,
  },
  damaged: { kind: 'internal', message: 'This file is damaged in its storage.', shouldRetry: false },
}
const BUSY: Omit<Failure, 'retryAfterMs'> = { kind: 'rate_limited', message: 'Too many requests from your address.' }
const WANTED: Omit<Failure, 'retryAfterMs'> = { kind: 'rate_limited', message: 'Too many requests for this file.' }
/** The factor between the limit of one file for all clients and the limit of one address. */
const FILE_FACTOR = limit('contentPerFileFactor', 16, 'The limits per file are this many times the limits per address.')

export class ContentServer {
  private readonly blobs: Blobs
  private readonly visitors: IpRateLimiter
  /** Limits by file, over all addresses. */
  private readonly crowds: IpRateLimiter

  constructor(blobs: Blobs, limits: VisitorLimits) {
    this.blobs = blobs
    this.visitors = new IpRateLimiter(limits)
    const { perMinute, concurrent } = limits
    this.crowds = new IpRateLimiter({ perMinute: perMinute * FILE_FACTOR, concurrent: concurrent * FILE_FACTOR })
  }

  /** Serves a file by its id. The result says why it was not served. */
  async serve(
    { exchange, client, always }: Recipient,
    id: string,
    { purpose, absent }: ContentRequest,
  ): Promise<Failure | undefined> {
    const left = this.visitors.enter(client)
    if (typeof left === 'number') return { ...BUSY, retryAfterMs: left }
    try {
      const found = await this.blobs.find(id, purpose)
      return found.kind === 'blob' ? await this.give(exchange, id, found, always) : await absent(found.kind)
    } finally {
      left()
    }
  }

  private async give(
    exchange: ServerExchange,
    id: string,
    blob: Blob,
    always: ReplyHeaders,
  ): Promise<Failure | undefined> {
    const left = this.crowds.enter(id)
    if (typeof left === 'number') return { ...WANTED, retryAfterMs: left }
    try {
      return await send(exchange, blob, always)
    } finally {
      left()
    }
  }
}

/** The client of a file, and the headers of every answer to it. */
export type Recipient = { readonly exchange: ServerExchange; readonly client: string; readonly always: ReplyHeaders }

type ContentRequest = {
  readonly purpose: BlobPurpose
  /** The failure for a file that does not exist or has expired. */
  readonly absent: (found: 'expired' | 'unknown') => Failure | Promise<Failure>
}

export type Media = { readonly files: ContentServer; readonly tasks: Pick<Tasks, 'stageOf'> }

/** Serves a hosted image. Its name is its id with an extension, which is ignored. */
export function serveImage({ files }: Media, recipient: Recipient, name: string): Promise<Failure | undefined> {
  const absent = (found: 'expired' | 'unknown'): Failure => (found === 'expired' ? EXPIRED : NOT_FOUND)
  return files.serve(recipient, name.split('.')[0] ?? '', { purpose: 'image', absent })
}

/** OpenAI's API also has still pictures of a video. The gateway has none. */
const NO_VARIANT: Failure = {
  kind: 'invalid_value',
  message: "Invalid 'variant': must be 'video'.",
  param: 'variant',
}
const EXPIRED_VIDEO: Failure = { kind: 'expired', message: 'This video has expired.' }

/** Serves the video of a task. */
export async function serveVideo(
  { files, tasks }: Media,
  recipient: Recipient,
  id: string,
): Promise<Failure | undefined> {
  const variant = new URLSearchParams(recipient.exchange.head.query).get('variant') ?? 'video'
  if (variant !== 'video') return NO_VARIANT
  return files.serve(recipient, id, { purpose: 'video', absent: () => absentVideo(tasks, id) })
}

async function absentVideo(tasks: Media['tasks'], id: string): Promise<Failure> {
  const stage = await tasks.stageOf(id)
  return stage === undefined ? NO_TASK : absentAt(stage)
}

function absentAt(stage: VideoStage): Failure {
  switch (statusOf(stage)) {
    case 'completed':
      return EXPIRED_VIDEO
    case 'failed':
      return NO_TASK
    case 'queued':
    case 'in_progress':
      return notCompleted('This video is not finished. Request it when its task is completed.')
  }
}

/** Whether `If-None-Match` names this file or any file. A weak tag is enough, because the request changes nothing. */
const isKnown = (tags: string | undefined, etag: string): boolean =>
  tags?.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim())) ?? false

const NO_BYTES: BlobPart = { from: 0, to: -1 }

async function send(exchange: ServerExchange, blob: Blob, always: ReplyHeaders): Promise<Failure | undefined> {
  const headers = { ...headersOf(blob), ...always }
  if (isKnown(exchange.header('if-none-match'), blob.etag)) {
    exchange.reply(304, headers, '')
    return undefined
  }
  const part = partOf(exchange, blob)
  if (part === 'none') {
    const message = `Invalid 'range': the file has ${blob.bytes} bytes.`
    const { body } = writeFailure({ kind: 'invalid_value', message, param: 'range' })
    const type = 'application/json; charset=utf-8'
    exchange.reply(416, { ...always, 'content-type': type, 'content-range': `bytes */${blob.bytes}` }, body)
    return undefined
  }
  const { from, to } = part ?? { from: 0, to: blob.bytes - 1 }
  const file = await blob.open(exchange.head.method === 'HEAD' ? NO_BYTES : { from, to })
  // The file was deleted after it was found.
  if (!file) return EXPIRED
  if (typeof file === 'string') return UNREADABLE[file]
  try {
    const range: ReplyHeaders = part ? { 'content-range': `bytes ${from}-${to}/${blob.bytes}` } : {}
    exchange.beginSized(part ? 206 : 200, { ...headers, ...range }, to - from + 1)
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (let at = from; at <= to && !exchange.isAnswered && !exchange.isGone;) {
      const bytes = await file.read(piece.subarray(0, to - at + 1), at)
      if (bytes === 0) exchange.destroy()
      at += bytes
      if (!exchange.sendBytes(piece.subarray(0, bytes))) await exchange.flushed()
    }
  } finally {
    await file.close()
  }
  return undefined
}

function headersOf({ contentType, etag, createdAtMs, expiresAtMs }: Blob): ReplyHeaders {
  const seconds = Math.max(0, Math.floor((expiresAtMs - Date.now()) / 1000))
  return {
    'content-type': contentType,
    'accept-ranges': 'bytes',
    etag,
    'last-modified': new Date(createdAtMs).toUTCString(),
    'cache-control': `private, max-age=${seconds}`,
    'content-disposition': 'inline',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
    // Other sites may embed the file. The address exists for that.
    'cross-origin-resource-policy': 'cross-origin',
  }
}

/** The part of the file that the request asks for. Undefined: the whole file. `none`: the file has no such part. */
function partOf(exchange: ServerExchange, { bytes, etag }: Blob): BlobPart | 'none' | undefined {
  const range = exchange.header('range')
  const condition = exchange.header('if-range')
  if (range === undefined || exchange.head.method !== 'GET' || (condition !== undefined && condition !== etag)) {
    return undefined
  }
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim())
  // HTTP lets a server answer several ranges and unknown units with the whole file.
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const [, first = '', last = ''] = match
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const to = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  return from > to || from >= bytes ? 'none' : { from, to }
}
