/** One request and its answer, as the handler sees them. */
import type { Framing } from '../lib/http/http1.ts'
import { joinInOwnTurn } from '../lib/primitives/long-text.ts'
import type { BudgetShare } from '../lib/primitives/shared-budget.ts'
import { ArrivingText, decodeBody, type BodyText } from './body-text.ts'
import { replyHead, type ReplyHeaders } from './reply-head.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { NO_BYTES } from '../lib/http/wire-buffer.ts'

/**
 * A body must be no larger than `bytesMax`, and arrive at `bytesPerSecondMin` or faster. It may be `graceMs` behind
 * that, and what came faster earns it no more: a body that stands still is given up after so long, however it began.
 */
export type BodyLimits = { readonly bytesMax: number; readonly graceMs: number; readonly bytesPerSecondMin: number }

/** How a body that was read in pieces ended. */
export type PiecesEnd = 'complete' | 'too_large' | 'broken_off' | 'timeout'

/** What an exchange needs of its connection. */
export type Wire = {
  readonly remoteAddress: string
  readonly notes: Map<string, string>
  readonly isClosed: boolean
  /** False when the client has not taken everything. */
  write(data: string | Uint8Array): boolean
  drained(): Promise<void>
  /** Tells a client that waits for it to send its body. */
  continue(): void
  /** The answer at hand is the last on this connection. */
  setLast(): void
  /** The `connection` header of an answer, where it needs one. */
  persistence(exchange: ServerExchange): string
  /** An answer is written in full. */
  answered(exchange: ServerExchange): void
  destroy(): void
}

/** What the first line and the headers said. */
export type RequestHead = {
  readonly method: string
  /** As it was sent, percent-encoding included; without the query. */
  readonly path: string
  /** With its question mark; empty where there is none. */
  readonly query: string
  /** All but `content-length`: that is the exchange's `declaredBytes`. */
  readonly headers: ReadonlyMap<string, string>
  readonly version: '1.0' | '1.1'
}

type PendingBody = {
  readonly limits: BodyLimits
  readonly resolve: (body: BodyText) => void
  /** When it is too late, unless something comes before. */
  lateMs: number
}

export class ServerExchange {
  readonly head: RequestHead
  /** How long the body is; undefined where only its end says so. */
  readonly declaredBytes: number | undefined
  /** Called once if the client goes before the answer is complete. */
  onClosed: (() => void) | undefined
  /** Where the memory of a body is taken from while it arrives in pieces. */
  share: BudgetShare | undefined
  private readonly connection: Wire
  private state: 'waiting' | 'streaming' | 'answered' = 'waiting'
  /** The head of a stream, until its first text: they leave together. */
  private heldHead = ''
  /** Of an answer of known length, what is still to be sent. */
  private bytesLeft = 0
  private reading: PendingBody | undefined
  /** A body that came with its head, until the tick of the request is over. */
  private atHand: { readonly bytes: Buffer; readonly from: number; readonly to: number } | undefined
  /** What has arrived of a body in pieces. */
  private arriving: ArrivingText | undefined
  private bodyBytes = 0
  private body: BodyText | undefined
  /** It was read at hand, or dropped because nobody read it. */
  private isPassed = false
  /** Takes a body that is read as it comes. */
  private takePiece: ((piece: Buffer) => void) | undefined

  constructor(connection: Wire, head: RequestHead, framing: Framing) {
    this.connection = connection
    this.head = head
    this.declaredBytes = framing.kind === 'length' ? framing.bytes : undefined
  }

  header(name: string): string | undefined {
    return this.head.headers.get(name)
  }

  /** What a handler notes of this connection, for its next requests. */
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
   * The body, where all of it came with its head, as most do: nobody has to wait for it then. Undefined for others, and
   * those that are too large, which `readText` reads. To be called in the tick of the request, once.
   */
  textAtHand({ bytesMax }: BodyLimits): BodyText | undefined {
    const { atHand } = this
    if (!atHand || this.reading || atHand.to - atHand.from > bytesMax) return undefined
    this.atHand = undefined
    this.isPassed = true
    return (this.body = decodeBody(atHand.bytes, atHand.from, atHand.to))
  }

  /** Reads the body as text, bounded in bytes and time while it arrives. To be called in the tick of the request. */
  readText(limits: BodyLimits): Promise<BodyText> {
    if (this.isPassed || this.reading) throw new Error('the body has passed')
    if (this.body) return Promise.resolve(this.body)
    return new Promise((resolve) => {
      this.reading = { limits, resolve, lateMs: performance.now() + limits.graceMs }
      if (this.state === 'waiting') this.connection.continue()
    })
  }

  /**
   * Reads the body piece by piece: `take` is done with each when it returns, so that nothing waits in memory. Pausing
   * the socket instead would not do: the runtime (Bun 1.4.5) reads up to 5 MB on before it stops. To be called in the
   * tick of the request. Rejects with what `take` throws, which ends the reading.
   */
  readPieces(limits: BodyLimits, take: (piece: Buffer) => void): Promise<PiecesEnd> {
    if (this.isPassed || this.reading) throw new Error('the body has passed')
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

  /** Answers with a whole body, or with none where the status has none. `always`: further headers, which prevail. */
  reply(status: number, headers: ReplyHeaders, body: string | Uint8Array, always?: ReplyHeaders): void {
    if (this.state !== 'waiting') throw new Error('this request has an answer already')
    const { connection, head } = this
    // Both end with their heads. A 204 has no length, and that of a 304 would be the file's (RFC 9110, 8.6).
    const isEmpty = status === 204 || status === 304
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
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
    // To HTTP/1.0 only the end of the connection ends an answer of unknown length.
    if (!isChunked) this.connection.setLast()
    const framing = isChunked ? 'transfer-encoding: chunked\r\n' : ''
    this.heldHead = replyHead(status, headers, framing + this.connection.persistence(this))
    this.state = 'streaming'
  }

  /** Begins an answer of known length, whose bytes come in pieces: it ends with the last of them. */
  beginSized(status: number, headers: ReplyHeaders, bytes: number): void {
    if (this.state !== 'waiting') throw new Error('this request has an answer already')
    this.connection.write(
      replyHead(status, headers, `content-length: ${bytes}\r\n${this.connection.persistence(this)}`),
    )
    this.state = 'streaming'
    this.bytesLeft = this.head.method === 'HEAD' ? 0 : bytes
    this.endSized()
  }

  /** Sends a piece of it. False when the client has not taken everything yet. */
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

  /** Sends a piece. False when the client has not taken everything yet: wait for `drained` before the next. */
  send(text: string): boolean {
    if (this.state !== 'streaming') return true
    const isLarge = text.length >= LARGE_CHARS_MIN && text.length <= LARGE_CHARS_MAX && this.heldHead === ''
    return this.connection.write(isLarge && this.isChunked ? chunkOf(text) : this.take(this.framed(text)))
  }

  /** Resolves when the client has taken what was sent, or is gone. */
  drained(): Promise<void> {
    return this.connection.drained()
  }

  /** Sends the last piece and ends the answer. */
  end(text = ''): void {
    if (this.state !== 'streaming') return
    this.state = 'answered'
    this.connection.write(this.take(this.framed(text) + (this.isChunked ? '0\r\n\r\n' : '')))
    this.connection.answered(this)
  }

  /** Breaks the connection: the client must not take what it got for the whole answer. */
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

  /** The whole body lies in `bytes`, and will be taken from there by `bodyLast`, unless somebody reads it before. */
  bodyAtHand(bytes: Buffer, from: number, to: number): void {
    this.atHand = { bytes, from, to }
  }

  tickIsOver(): void {
    this.atHand = undefined
  }

  /** Takes a payload, after which more will come. */
  bodyPart(bytes: Buffer): void {
    const { reading } = this
    if (!this.isWanted(bytes.length) || !reading) return
    const nowMs = performance.now()
    const { bytesPerSecondMin, graceMs } = reading.limits
    reading.lateMs = Math.min(reading.lateMs + (bytes.length / bytesPerSecondMin) * 1000, nowMs + graceMs)
    if (this.takePiece) return this.takePiece(bytes)
    this.keep(bytes, reading)
  }

  /** Takes the last payload. Most bodies arrive in one piece: they are read where they lie, and never copied. */
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

  /** Counts what arrived. False when nobody reads it, or it is beyond what may be. */
  private isWanted(bytes: number): boolean {
    const { reading } = this
    this.bodyBytes += bytes
    if (!reading) this.isPassed = true
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

/** A body beyond it takes turns of its own: its steps together would keep the others waiting. */
const TURN_BYTES_MAX = 4 * MIB

async function handOver(body: BodyText, { resolve }: PendingBody): Promise<void> {
  if (body.kind === 'read') await joinInOwnTurn(body.text)
  resolve(body)
}

/** What one read of a fast upstream makes. The buffer for more would be kept for nothing. */
const LARGE_CHARS_MIN = 64 * KIB
const LARGE_CHARS_MAX = MIB
let chunk = NO_BYTES

/** A chunk of much text, in bytes that the next one overwrites: as text it would be copied twice more to be framed. */
function chunkOf(text: string): Buffer {
  const bytes = Buffer.byteLength(text)
  const size = `${bytes.toString(16)}\r\n`
  if (chunk.length < size.length + bytes + 2) chunk = Buffer.allocUnsafeSlow(size.length + bytes + 2)
  chunk.write(size, 'latin1')
  chunk.write(text, size.length)
  chunk.write('\r\n', size.length + bytes)
  return chunk.subarray(0, size.length + bytes + 2)
}
