/**
 * A client of S3: signed requests over the gateway's own HTTP client. Bun 1.4.5 has a client of S3, too. It was not
 * used, because it follows redirects to any host, has no timeout, uses proxies of the environment, takes a whole object
 * for a range, and may report a failed upload as a success (docs/decisions/031-s3-client-of-our-own.md).
 */
import { EMPTY_SHA256, escapedForAws, queryForAws, signedHeaders } from '../lib/http/aws-signature.ts'
import { readBytes } from '../outbound/bytes.ts'
import type { IncomingResponse } from '../outbound/exchange.ts'
import { Outbound } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import type { StoringHalt } from './blobs.ts'
import { s3Bounds } from './bucket-bounds.ts'
import { isErrorText, isPassing, s3Failure, s3FailureIn, type S3Failure } from './s3-failure.ts'
import type { S3Settings } from './bucket-settings.ts'

/** A body that can be sent again. */
export type S3Body = {
  readonly bytes: number
  /** Hexadecimal. S3 refuses a body with another digest. */
  readonly sha256: string
  pieces(): AsyncGenerator<Uint8Array>
}

export type S3Request = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** The name of an object without the prefix. Undefined: the bucket. */
  readonly name?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: S3Body | undefined
  readonly halt?: StoringHalt | undefined
  /** The longest wait without progress. */
  readonly stallMs?: number
  /** No try begins later than this after the first. */
  readonly deadlineMs?: number
}

/** An answer whose body is still to come. The owner reads or cancels it, and then ends the watch. */
export type OpenAnswer = {
  readonly kind: 'open'
  readonly response: IncomingResponse
  readonly watch: StallWatch
}
type AnswerText = { readonly status: number; readonly headers: IncomingResponse['headers']; readonly text: string }
export type S3Answer = (AnswerText & { readonly kind: 'done' }) | S3Failure

/** Ends a request that makes no progress. */
class StallWatch {
  readonly stop = new Stop()
  isStalled = false
  private readonly stallMs: number
  private readonly halt: StoringHalt | undefined
  private timer: Timer | undefined

  constructor(stallMs: number, halt: StoringHalt | undefined) {
    this.stallMs = stallMs
    this.halt = halt
    this.beat()
    halt?.took(this)
    if (halt?.upstreamStopped) this.abort()
  }

  abort(): void {
    this.stop.stop()
  }

  /** There was progress, or the server is waited for again. */
  beat(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.expired(), this.stallMs)
  }

  /** Nobody waits for the server. */
  rest(): void {
    clearTimeout(this.timer)
  }

  end(): void {
    clearTimeout(this.timer)
    this.halt?.landed(this)
  }

  private expired(): void {
    this.isStalled = true
    this.stop.stop()
  }
}

const BACKOFF_MS = 200

export class S3Client {
  readonly settings: S3Settings
  private readonly outbound = new Outbound()
  private readonly origin: string
  private readonly host: string
  /** The path of the bucket. */
  private readonly root: string

  constructor(settings: S3Settings) {
    this.settings = settings
    const { origin, host, root } = bucketAddress(settings)
    this.origin = origin
    this.host = host
    this.root = root
  }

  /** Sends a request until it is answered, or has failed for good. A failure is a value. */
  async ask(request: S3Request): Promise<S3Answer> {
    const startedMs = performance.now()
    const { deadlineMs = Number.POSITIVE_INFINITY, halt } = request
    for (let tries = 1; ; tries++) {
      const answer = await this.tryOnce(request)
      const isOver = halt?.upstreamStopped || performance.now() - startedMs >= deadlineMs
      if (answer.kind === 'done' || !isPassing(answer) || isOver || tries >= s3Bounds.triesMax) return answer
      await Bun.sleep(BACKOFF_MS * 2 ** tries * (0.5 + Math.random()))
    }
  }

  /** Sends a request once, and leaves the body of a good answer to the caller. */
  async open(request: S3Request): Promise<OpenAnswer | S3Failure> {
    const { method, name, body, halt, stallMs = s3Bounds.stallMs } = request
    const path = `${this.root}${name === undefined ? '' : escapedPath(this.settings.prefix + name)}`
    const query = queryForAws(Object.entries(request.query ?? {}))
    const sha256 = body?.sha256 ?? EMPTY_SHA256
    const unsigned = { method, host: this.host, path, query, headers: request.headers ?? {}, sha256 }
    const watch = new StallWatch(stallMs, halt)
    const sent = await this.outbound.send({
      url: `${this.origin}${path}${query === '' ? '' : `?${query}`}`,
      method,
      headers: signedHeaders(unsigned, { ...this.settings, service: 's3' }, Date.now()),
      body: body ? uploadOfBody(body, watch) : method === 'GET' || method === 'HEAD' ? undefined : '',
      stop: watch.stop,
      // The address is the operator's own. Redirects are never followed, so nobody else chooses one.
      reach: 'private',
    })
    if (sent.kind === 'network') {
      watch.end()
      return watch.isStalled ? stalled() : s3Failure('network', 0, `the server cannot be reached (${sent.message})`)
    }
    const { response } = sent
    if (response.status >= 200 && response.status < 300) return { kind: 'open', response, watch }
    const text = await readBytes(response, s3Bounds.answerBytesMax)
    watch.end()
    return s3FailureIn(response.status, text?.toString() ?? '')
  }

  private async tryOnce(request: S3Request): Promise<S3Answer> {
    const opened = await this.open(request)
    if (opened.kind === 'failed') return opened
    const { response, watch } = opened
    const { status, headers } = response
    const text = await readBytes(response, s3Bounds.answerBytesMax)
    watch.end()
    if (!text) return watch.isStalled ? stalled() : s3Failure('network', 0, 'the answer of the server broke off')
    const answered = { status, headers, text: text.toString() }
    return isErrorText(answered.text) ? s3FailureIn(status, answered.text) : { kind: 'done', ...answered }
  }
}

type BucketAddress = { readonly origin: string; readonly host: string; readonly root: string }

/** Where the bucket is. `root` is its path. */
export function bucketAddress({ endpoint, bucket, style }: S3Settings): BucketAddress {
  const { protocol, host } = new URL(endpoint)
  if (style === 'path') return { origin: `${protocol}//${host}`, host, root: `/${bucket}/` }
  return { origin: `${protocol}//${bucket}.${host}`, host: `${bucket}.${host}`, root: '/' }
}

const stalled = (): S3Failure => s3Failure('stalled', 0, 'the server does not answer in time')

const escapedPath = (key: string): string => key.split('/').map(escapedForAws).join('/')

/** The body as the HTTP client takes it. Each piece that the server has taken is progress. */
const uploadOfBody = (body: S3Body, watch: StallWatch) => ({
  contentType: '',
  bytes: body.bytes,
  async *pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of body.pieces()) {
      yield piece
      watch.beat()
    }
  },
})
