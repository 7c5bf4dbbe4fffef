/**
 * One request and its answer, as the handler sees them.
 * Over 300 lines: the states of one exchange depend on each other.
 */
import { contentBytes, type MessageContent } from '../lib/http/message-content.ts'
import type { Framing } from '../lib/http/http1.ts'
import { joinInOwnTurn } from '../lib/primitives/long-text.ts'
import type { BudgetShare } from '../lib/primitives/shared-budget.ts'
import { ArrivingText, decodeBody, type BodyText } from './body-text.ts'
import { replyHead, type ReplyHeaders } from './reply-head.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { NO_BYTES } from '../lib/http/wire-buffer.ts'

/**
 * A body must be no larger than `bytesMax`, and arrive at `bytesPerSecondMin` or faster. It may be `graceMs` late. A
 * faster start earns no more time: a body that stops arriving is given up after `graceMs`.
 */
export type BodyLimits = { readonly bytesMax: number; readonly graceMs: number; readonly bytesPerSecondMin: number }

/** The end of a body that was read in pieces. */
export type PiecesEnd = 'complete' | 'too_large' | 'broken_off' | 'timeout'

/** What an exchange needs of its connection. */
export type Wire = {
  readonly remoteAddress: string
  readonly notes: Map<string, string>
  readonly isClosed: boolean
  /** False if the client has not taken everything. */
  write(data: string | Uint8Array): boolean
  flushed(): Promise<void>
  /** Sends 100 Continue to a client that waits for it. */
  continue(): void
  /** Makes the current answer the last on this connection. */
  setLast(): void
  /** The `connection` header of an answer, if it needs one. */
  persistence(exchange: ServerExchange): string
  /** An answer is written in full. */
  answered(exchange: ServerExchange): void
  destroy(): void
}

/** The first line and the headers of a request. */
export type RequestHead = {
  readonly method: string
  /** As sent, with its percent-encoding and without the query. */
  readonly path: string
  /** With its question mark. Empty if there is no query. */
  readonly query: string
  /** All headers but `content-length`, which is `declaredBytes` of the exchange. */
  readonly headers: ReadonlyMap<string, string>
  readonly version: '1.0' | '1.1'
}

type PendingBody = {
  readonly limits: BodyLimits
  readonly resolve: (body: BodyText) => void
  /** The time at which the body is too late. Arriving bytes move it. */
  lateMs: number
}

export class ServerExchange {
  readonly head: RequestHead
  /** The length of the body. Undefined if only the end of the body shows it. */
  readonly declaredBytes: number | undefined
  /** Called once if the client goes before the answer is complete. */
  onClosed: (() => void) | undefined
  /** The budget for the memory of a body while it arrives in pieces. */
  share: BudgetShare | undefined
  private readonly connection: Wire
  private state: 'waiting' | 'streaming' | 'answered' = 'waiting'
  /** The head of a stream until its first text, because both are sent together. */
  private heldHead = ''
  /** The bytes of an answer of known length that are still to be sent. */
  private bytesLeft = 0
  private reading: PendingBody | undefined
  /** A body that came with its head. It is kept until the tick of the request is over. */
  private atHand: { readonly bytes: Buffer; readonly from: number; readonly to: number } | undefined
  /** The pieces of a body that have arrived. */
  private arriving: ArrivingText | undefined
  private bodyBytes = 0
  private body: BodyText | undefined
  /** The body can no longer be read: it was read from memory, or dropped because no handler read it. */
  private isBodyGone = false
  /** Takes the pieces of a body that is read as it arrives. */
  private takePiece: ((piece: Buffer) => void) | undefined

  constructor(connection: Wire, head: RequestHead, framing: Framing) {
    this.connection = connection
    this.head = head
    this.declaredBytes = framing.kind === 'length' ? framing.bytes : undefined
  }

  header(name: string): string | undefined {
    return this.head.headers.get(name)
  }

  /** A handler's notes about this connection, for its next requests. */
  get notes(): Map<string, string> {
    return this.connection.notes
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress
  }

  /** Whether the client has left. */
  get isGone(): boolean {
    return this.connection.isClosed
  }

  /** Whether nothing of an answer has been written. */
  get isUnanswered(): boolean {
    return this.state === 'waiting'
  }

  get isAnswered(): boolean {
    return this.state === 'answered'
  }

  /**
   * Returns the body at once if all of it came with its head, as most bodies do. Undefined for other bodies and for
   * those that are too large: use `readText` for them. Call it once, in the tick of the request.
   */
  textAtHand({ bytesMax }: BodyLimits): BodyText | undefined {
    const { atHand } = this
    if (!atHand || this.reading || atHand.to - atHand.from > bytesMax) return undefined
    this.atHand = undefined
    this.isBodyGone = true
    return (this.body = decodeBody(atHand.bytes, atHand.from, atHand.to))
  }

  /** Reads the body as text, bounded in bytes and time while it arrives. Call it in the tick of the request. */
  readText(limits: BodyLimits): Promise<BodyText> {
    if (this.isBodyGone || this.reading) throw new Error('the body has passed')
    if (this.body) return Promise.resolve(this.body)
    return new Promise((resolve) => {
      this.reading = { limits, resolve, lateMs: performance.now() + limits.graceMs }
      if (this.state === 'waiting') this.connection.continue()
    })
  }

  /**
   * Reads the body piece by piece. `take` must be done with each piece when it returns, so that nothing waits in
   * memory. Pausing the socket is no alternative: Bun 1.4.5 reads up to 5 MB more before it stops. Call it in the tick
   * of the request. If `take` throws, the reading ends and the promise rejects with that error.
   */
  readPieces(limits: BodyLimits, take: (piece: Buffer) => void): Promise<PiecesEnd> {
    if (this.isBodyGone || this.reading) throw new Error('the body has passed')
    return new Promise((resolve, reject) => {
      const end = ({ kind }: BodyText): void => resolve(kind === 'read' ? 'complete' : (kind as PiecesEnd))
      if (this.body) return end(this.body)
      this.reading = { limits, resolve: end, lateMs: performance.now() + limits.graceMs }
      this.takePiece = (piece) => {
        try {
          take(piece)
        } catch (error) {
          reject(error)
          this.bodyEnded({ kind: 'broken_off' })
        }
      }
      if (this.state === 'waiting') this.connection.continue()
    })
  }

  /**
   * Answers with a whole body, or with none if the status has none. `always`: further headers, which take precedence.
   */
  reply(status: number, headers: ReplyHeaders, body: MessageContent, always?: ReplyHeaders): void {
    if (this.state !== 'waiting') throw new Error('this request has an answer already')
    const { connection, head } = this
    // Both end with their heads. A 204 has no length, and the length of a 304 would be the file's (RFC 9110, 8.6).
    const isEmpty = status === 204 || status === 304
    const bytes = contentBytes(body)
    const length = isEmpty ? '' : `content-length: ${bytes}\r\n`
    const text = replyHead(status, headers, length + connection.persistence(this), always)
    this.state = 'answered'
    if (isEmpty || head.method === 'HEAD') connection.write(text)
    else {
      connection.write(text)
      connection.write(body)
    }
    connection.answered(this)
  }

  /** Begins an answer whose body comes in pieces. */
  begin(status: number, headers: ReplyHeaders): void {
    if (this.state !== 'waiting') throw new Error('this request has an answer already')
    const isChunked = this.head.version === '1.1'
    // In HTTP/1.0, only the end of the connection ends an answer of unknown length.
    if (!isChunked) this.connection.setLast()
    const framing = isChunked ? 'transfer-encoding: chunked\r\n' : ''
    this.heldHead = replyHead(status, headers, framing + this.connection.persistence(this))
    this.state = 'streaming'
  }

  /** Begins an answer of known length whose bytes come in pieces. It ends with the last byte. */
  beginSized(status: number, headers: ReplyHeaders, bytes: number): void {
    if (this.state !== 'waiting') throw new Error('this request has an answer already')
    this.connection.write(
      replyHead(status, headers, `content-length: ${bytes}\r\n${this.connection.persistence(this)}`),
    )
    this.state = 'streaming'
    this.bytesLeft = this.head.method === 'HEAD' ? 0 : bytes
    this.endSized()
  }

  /** Sends a piece of such an answer. False if the client has not taken everything yet. */
  sendBytes(bytes: Uint8Array): boolean {
    if (this.state !== 'streaming') return true
    const isTaken = this.connection.write(bytes.subarray(0, this.bytesLeft))
    this.bytesLeft -= Math.min(bytes.length, this.bytesLeft)
    this.endSized()
    return isTaken
  }

  private endSized(): void {
    if (this.bytesLeft > 0) return
    this.state = 'answered'
    this.connection.answered(this)
  }

  /** Sends a piece. False if the client has not taken everything yet. Then wait for `flushed` before the next piece. */
  send(content: MessageContent): boolean {
    if (this.state !== 'streaming') return true
    if (typeof content !== 'string') return this.sendPiece(content)
    const text = content
    const isLarge = text.length >= LARGE_CHARS_MIN && text.length <= LARGE_CHARS_MAX && this.heldHead === ''
    return this.connection.write(isLarge && this.isChunked ? chunkOf(text) : this.take(this.framed(text)))
  }

  /** Sends a piece that is bytes. */
  private sendPiece(bytes: Uint8Array): boolean {
    const { connection } = this
    if (this.heldHead !== '') connection.write(this.take(''))
    if (bytes.length === 0 || this.head.method === 'HEAD') return true
    if (!this.isChunked) return connection.write(bytes)
    let isTaken = true
    for (let at = 0; at < bytes.length; at += LARGE_CHARS_MAX) {
      isTaken = connection.write(chunkOf(bytes.subarray(at, at + LARGE_CHARS_MAX)))
    }
    return isTaken
  }

  /** Resolves when the client has taken everything, or is gone. */
  flushed(): Promise<void> {
    return this.connection.flushed()
  }

  /** Sends the last piece and ends the answer. */
  end(content: MessageContent = ''): void {
    if (this.state !== 'streaming') return
    if (typeof content !== 'string') this.sendPiece(content)
    const text = typeof content === 'string' ? content : ''
    this.state = 'answered'
    this.connection.write(this.take(this.framed(text) + (this.isChunked ? '0\r\n\r\n' : '')))
    this.connection.answered(this)
  }

  /** Breaks the connection, so that the client cannot take a partial answer for a whole one. */
  destroy(): void {
    this.connection.destroy()
  }

  private get isChunked(): boolean {
    return this.head.version === '1.1' && this.head.method !== 'HEAD'
  }

  private framed(text: string): string {
    if (text === '' || this.head.method === 'HEAD') return ''
    return this.head.version === '1.0' ? text : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
  }

  private take(text: string): string {
    if (this.heldHead === '') return text
    const all = this.heldHead + text
    this.heldHead = ''
    return all
  }

  /** The whole body lies in `bytes`. `bodyLast` takes it from there unless it is read before. */
  bodyAtHand(bytes: Buffer, from: number, to: number): void {
    this.atHand = { bytes, from, to }
  }

  tickIsOver(): void {
    this.atHand = undefined
  }

  /** Takes a part of the body that is not the last. */
  bodyPart(bytes: Buffer): void {
    const { reading } = this
    if (!this.isWanted(bytes.length) || !reading) return
    const nowMs = performance.now()
    const { bytesPerSecondMin, graceMs } = reading.limits
    reading.lateMs = Math.min(reading.lateMs + (bytes.length / bytesPerSecondMin) * 1000, nowMs + graceMs)
    if (this.takePiece) return this.takePiece(bytes)
    this.keep(bytes, reading)
  }

  /** Takes the last part of the body. Most bodies arrive in one piece, are decoded in place, and are never copied. */
  bodyLast(bytes: Buffer, from: number, to: number): void {
    const { reading } = this
    if (!this.isWanted(to - from) || !reading) return
    if (this.takePiece) {
      if (to > from) this.takePiece(bytes.subarray(from, to))
      return this.bodyEnded({ kind: 'read', text: '', bytes: this.bodyBytes })
    }
    if (!this.arriving) return this.bodyEnded(decodeBody(bytes, from, to))
    if (this.keep(bytes.subarray(from, to), reading)) this.bodyEnded(this.arriving.end())
  }

  /** Counts arrived bytes. False if nobody reads them, or they are beyond the limit. */
  private isWanted(bytes: number): boolean {
    const { reading } = this
    this.bodyBytes += bytes
    if (!reading) this.isBodyGone = true
    if (!reading || this.body) return false
    if (this.bodyBytes <= reading.limits.bytesMax) return true
    this.connection.setLast()
    this.bodyEnded({ kind: 'too_large' })
    return false
  }

  private keep(bytes: Buffer, { limits: { bytesMax } }: PendingBody): boolean {
    this.arriving ??= new ArrivingText(Math.min(this.declaredBytes ?? bytesMax, bytesMax), this.share)
    const taken = this.arriving.push(bytes)
    if (taken === 'taken') return true
    this.connection.setLast()
    this.bodyEnded({ kind: taken })
    return false
  }

  bodyEnded(body: BodyText): void {
    this.body ??= body
    this.arriving?.release()
    this.arriving = undefined
    if (!this.reading) return
    if (this.bodyBytes > TURN_BYTES_MAX) void handOver(this.body, this.reading)
    else this.reading.resolve(this.body)
  }

  /** Called by the sweep. */
  checkBody(nowMs: number): void {
    if (!this.reading || this.body) return
    if (nowMs <= this.reading.lateMs) return
    this.connection.setLast()
    this.bodyEnded({ kind: 'timeout' })
  }

  closed(): void {
    this.bodyEnded({ kind: 'broken_off' })
    const { onClosed, state } = this
    this.onClosed = undefined
    if (state !== 'answered') onClosed?.()
  }
}

/** A larger body is processed in turns of its own, because its steps together would delay other requests. */
const TURN_BYTES_MAX = 4 * MIB

async function handOver(body: BodyText, { resolve }: PendingBody): Promise<void> {
  if (body.kind === 'read') await joinInOwnTurn(body.text)
  resolve(body)
}

/** The size of the text that one read of a fast upstream makes. A buffer for more would rarely be used. */
const LARGE_CHARS_MIN = 64 * KIB
const LARGE_CHARS_MAX = MIB
let chunk = NO_BYTES

/** A large chunk as bytes, which the next one overwrites. Framing it as text would copy it twice more. */
function chunkOf(content: MessageContent): Buffer {
  const bytes = contentBytes(content)
  const size = `${bytes.toString(16)}\r\n`
  if (chunk.length < size.length + bytes + 2) chunk = Buffer.allocUnsafeSlow(size.length + bytes + 2)
  chunk.write(size, 'latin1')
  if (typeof content === 'string') chunk.write(content, size.length)
  else chunk.set(content, size.length)
  chunk.write('\r\n', size.length + bytes)
  return chunk.subarray(0, size.length + bytes + 2)
}
