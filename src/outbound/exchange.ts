/**
 * One request and its answer. The head is parsed once, and the body goes to a sink as it arrives.
 * Over 300 lines: the states of one exchange depend on each other.
 */
import type { UploadBody } from '../lib/http/form.ts'
import { BodyReader, HeadReader } from '../lib/http/http1.ts'
import type { HeaderFields } from '../lib/http/message-head.ts'
import { readAnswerHead } from './answer-head.ts'
import { KIB } from '../lib/primitives/units.ts'
import { NO_BYTES } from '../lib/http/wire-buffer.ts'
import { limit } from '../lib/primitives/limit.ts'

/** Takes the body of an answer. Nothing follows `end` or `broken`. */
export type Sink = {
  /** Takes all bytes of the body from one read. They belong to the socket and are invalid after the call. */
  part(bytes: Buffer): void
  /** Takes the last bytes of the body, of which there may be none. */
  end(last: Buffer): void
  /** The same for a range of bytes, for a sink that needs no view. */
  endIn?(bytes: Buffer, from: number, to: number): void
  /** The connection broke or was cancelled. The rest of the body will not come. */
  broken(message: string): void
}

/** The connection of an exchange. */
export type Carrier = {
  exchange: ClientExchange | undefined
  readonly isUp: boolean
  /** Whether it has been idle. The upstream may have closed it in the meantime. */
  readonly isReused: boolean
  readonly socket: { pause(): void; resume(): void }
  /** Writes a request, and calls `handedOver` of the exchange once bytes have been handed to the socket. */
  write(head: string, body: string, bytes: number, upload: UploadBody | undefined): void
  /** The answer is complete. `keepAliveMs`: how long the upstream says that it keeps the connection. */
  idle(keepAliveMs: number): void
  /** The rest of the answer must arrive soon. */
  linger(): void
  destroy(): void
}

/** Opens a new connection for an exchange. */
export type ConnectionSource = {
  connectFor(exchange: ClientExchange): void
  /** Whether its connections lead to a proxy that forwards requests, and that may answer for itself. */
  readonly isForwarded?: boolean
}

/** An answer whose head has arrived. Its body must be delivered or cancelled, because it holds a connection. */
export type IncomingResponse = Pick<
  ClientExchange,
  'status' | 'headers' | 'declaredBytes' | 'deliver' | 'pause' | 'resume' | 'cancel' | 'release'
>

export type NetworkFailure = {
  readonly kind: 'network'
  /** An error code or a description. It never contains an address, which only the operator may see. */
  readonly message: string
  /** False if no byte of the request can have reached the upstream. */
  readonly reached: boolean
}

export type OutboundResult = { readonly kind: 'response'; readonly response: IncomingResponse } | NetworkFailure

/** The sender of the request. It receives one result. */
export type Asker = { take(result: OutboundResult): void }

/** The request, ready for the wire. */
export type WrittenRequest = {
  readonly method: string
  readonly head: string
  /** Empty if there is no body, or if it is an upload. */
  readonly body: string
  /** The length of head and body together. */
  readonly bytes: number
  /** The upload that follows them. */
  readonly upload?: UploadBody | undefined
}

const HEAD_BYTES_MAX = limit(
  'upstreamHeadBytesMax',
  64 * KIB,
  'An answer with a larger head counts as a failed attempt.',
)
const INTERIM_MAX = limit('upstreamInterimAnswersMax', 8, 'An upstream that sends more 1xx answers counts as failed.')
/** The bytes that may wait for a sink before the upstream must wait. */
const QUEUED_BYTES_MAX = 256 * KIB
/** The bytes of a released body that are still read, so that its connection can be used again. */
const RELEASED_BYTES_MAX = limit(
  'upstreamRestBytesMax',
  64 * KIB,
  'If the unread rest of an answer is longer, the connection is closed.',
)
/** If a kept connection was closed before our request arrived, that shows within one round trip. */
const RACE_MS = 2_000
/** Methods whose requests may be sent twice (RFC 9110, section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD'])

const NO_HEADERS: HeaderFields = new Map<string, string>()

export class ClientExchange {
  status = 0
  headers = NO_HEADERS
  /** Whether any byte of the request was handed to a connection. */
  reached = false
  private readonly method: string
  private readonly bytes: number
  private readonly upload: UploadBody | undefined
  /** The request is kept until the answer begins, because a dead connection would lose it. */
  private requestHead: string
  private requestBody: string
  /** Receives the answer's head, or the reason why there is none, within the same read. */
  private readonly asker: Asker
  private readonly source: ConnectionSource
  private stage: 'connecting' | 'head' | 'body' | 'ended' | 'broken' = 'connecting'
  private connection: Carrier | undefined
  private hasRetried = false
  private startedMs = 0
  private head: HeadReader | undefined
  private interims = 0
  private body: BodyReader | undefined
  private keepAliveMs = 0
  private sink: Sink | undefined
  /** Bytes that arrived before there was a sink. */
  private queued: Buffer[] | undefined
  private queuedBytes = 0
  private isPaused = false
  private problem = ''

  constructor({ method, head, body, bytes, upload }: WrittenRequest, asker: Asker, source: ConnectionSource) {
    this.method = method
    this.bytes = bytes
    this.upload = upload
    this.requestHead = head
    this.requestBody = body
    this.asker = asker
    this.source = source
  }

  /** Whether it still wants a connection. */
  get isWaiting(): boolean {
    return this.stage === 'connecting'
  }

  /** The declared length of the body, or 0 if it is not declared. Read it before `deliver`. */
  get declaredBytes(): number {
    return this.body?.declaredLeft ?? 0
  }

  /** Sends the request. */
  start(connection: Carrier): void {
    this.connection = connection
    this.stage = 'head'
    this.startedMs = performance.now()
    // The connection may have been closed in the tick in which it was assigned.
    if (!connection.isUp) return this.closed(undefined)
    connection.exchange = this
    connection.write(this.requestHead, this.requestBody, this.bytes, this.upload)
  }

  /** Bytes of the request have left, so the upstream may have begun to work. */
  handedOver(): void {
    this.reached = true
  }

  /** Sends the body to a sink: first the bytes that have arrived, then each read. */
  deliver(sink: Sink): void {
    const { stage, queued } = this
    this.sink = sink
    // Nearly every sink is set within the read that brought the head.
    if (!queued && stage === 'body') return this.resume()
    const bytes = queued?.length === 1 ? (queued[0] as Buffer) : Buffer.concat(queued ?? [])
    this.queued = undefined
    if (stage === 'ended') return sink.end(bytes)
    if (bytes.length > 0) sink.part(bytes)
    if (stage === 'broken') sink.broken(this.problem)
    else this.resume()
  }

  /** Makes the upstream wait. Bytes that are already on their way still arrive. */
  pause(): void {
    if (this.isPaused || this.stage !== 'body') return
    this.isPaused = true
    this.connection?.socket.pause()
  }

  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.connection?.socket.resume()
  }

  /** Stops the request at any stage. Its connection is not used again. */
  cancel(): void {
    this.fail('aborted')
  }

  /** Reads and drops a short rest of the body that nobody wants, so that the connection can be used again. */
  release(): void {
    if (this.stage !== 'body' || !this.connection) return
    if (this.keepAliveMs === 0) return this.cancel()
    let left = RELEASED_BYTES_MAX
    const drop = (bytes: Buffer): void => {
      left -= bytes.length
      if (left < 0) this.cancel()
    }
    this.connection.linger()
    this.deliver({ part: drop, end: () => undefined, broken: () => undefined })
  }

  /** Bytes of the answer. */
  data(bytes: Buffer): void {
    let at = 0
    while (this.stage === 'head' && at < bytes.length) at = this.readHead(bytes, at)
    if (this.stage === 'body') this.readBody(bytes, at)
  }

  /** The connection is gone. */
  closed(message: string | undefined): void {
    if (this.stage === 'head') {
      const isRace =
        this.requestHead !== '' && this.connection?.isReused && performance.now() - this.startedMs < RACE_MS
      // A sent request may have been processed and billed, so sending it again would be another attempt.
      const isHarmless = !this.reached || IDEMPOTENT.has(this.method)
      if (!isRace || !isHarmless || this.hasRetried) return this.fail(message ?? 'closed without an answer')
      this.hasRetried = true
      this.stage = 'connecting'
      this.connection = undefined
      this.source.connectFor(this)
    } else if (this.stage === 'body' && this.body) {
      // A reset is not a proper end, even for a body that ends with its connection.
      if (message === undefined) this.body.close()
      if (this.body.state === 'ended') this.finish(NO_BYTES, 0, 0)
      else this.fail(message ?? 'closed in the middle of the body')
    }
  }

  /** Ends the exchange without an answer, or in the middle of one. */
  fail(message: string): void {
    const { stage, connection } = this
    if (stage === 'ended' || stage === 'broken') return
    this.stage = 'broken'
    this.problem = message
    this.requestHead = this.requestBody = ''
    this.connection = undefined
    connection?.destroy()
    if (stage === 'body') this.sink?.broken(message)
    else this.asker.take({ kind: 'network', message, reached: this.reached })
  }

  /** Returns the position after the head in `bytes`, or the length of `bytes` if the head goes on or is malformed. */
  private readHead(bytes: Buffer, from: number): number {
    this.requestHead = this.requestBody = ''
    this.head ??= new HeadReader(HEAD_BYTES_MAX)
    const found = this.head.push(bytes, from)
    if (found === 'too_large') this.fail('the head of the answer is too large')
    if (found === 'too_large' || found.end === -1) return bytes.length
    this.begin(found.text)
    return found.end
  }

  private begin(text: string): void {
    const head = readAnswerHead(text, this.method)
    if (head.kind === 'malformed') return this.fail(head.message)
    if (head.kind === 'interim') {
      if (++this.interims > INTERIM_MAX) this.fail('the answer has too many interim heads')
      return
    }
    if (head.status === 407 && this.source.isForwarded) return this.refusedByProxy()
    this.status = head.status
    this.headers = head.headers
    this.keepAliveMs = head.keepAliveMs
    this.body = new BodyReader(head.framing)
    this.stage = 'body'
    this.asker.take({ kind: 'response', response: this })
  }

  /** Only a proxy asks for its own credential. It has forwarded nothing. */
  private refusedByProxy(): void {
    this.reached = false
    this.fail('the proxy refuses the credential (407)')
  }

  private readBody(bytes: Buffer, from: number): void {
    const { body, connection } = this
    if (!body || !connection) return
    const bodyEnd = body.takeToEnd(bytes, from)
    if (bodyEnd !== -1) {
      // Bytes after the end would be taken for the next answer.
      if (bodyEnd < bytes.length) this.keepAliveMs = 0
      return this.finish(bytes, from, bodyEnd)
    }
    this.readPart(bytes, from, body)
  }

  private readPart(bytes: Buffer, from: number, body: BodyReader): void {
    const { part, end } = body.push(bytes, from)
    if (end < bytes.length) this.keepAliveMs = 0
    if (body.state === 'ended') return this.finish(part, 0, part.length)
    if (part.length > 0) this.hand(part)
    if (body.state === 'broken') this.fail('the framing of the answer is broken')
  }

  private hand(part: Buffer): void {
    if (this.sink) return this.sink.part(part)
    ;(this.queued ??= []).push(Buffer.from(part))
    this.queuedBytes += part.length
    if (this.queuedBytes > QUEUED_BYTES_MAX) this.pause()
  }

  /** Ends a complete answer. The connection is free for the next request before the sink is called. */
  private finish(bytes: Buffer, from: number, to: number): void {
    const { connection, sink } = this
    this.resume()
    this.stage = 'ended'
    this.connection = undefined
    if (this.keepAliveMs > 0) connection?.idle(this.keepAliveMs)
    else connection?.destroy()
    if (sink?.endIn) return sink.endIn(bytes, from, to)
    const last = bytes.subarray(from, to)
    if (sink) sink.end(last)
    else if (last.length > 0) (this.queued ??= []).push(Buffer.from(last))
  }
}
