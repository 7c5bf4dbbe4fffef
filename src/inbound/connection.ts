/**
 * One client connection. It reads requests one at a time, and writes the answers in order.
 * Over 300 lines: the states of one connection depend on each other.
 */
import type { Socket } from 'bun'
import { flushAtEndOfTick, inNextTurn } from '../lib/runtime/end-of-tick.ts'
import { BodyReader, HeadReader, type Framing } from '../lib/http/http1.ts'
import { fillWireBuffer, WIRE_CHARS_MAX, wireBuffer } from '../lib/http/wire-buffer.ts'
import { AHEAD_BYTES_MAX, UNREAD_BYTES_MAX, WAITING_BYTES_MAX } from './connection-limits.ts'
import type { LimitedConnection } from './connection-limiter.ts'
import { ServerExchange, type Wire } from './exchange.ts'
import type { Host } from './host.ts'
import { bufferOf, pack, unpack, type CompressedBytes } from './compressed-bytes.ts'
import { refusalText } from './refusal.ts'
import { LastHead, MALFORMED, NO_BODY, readRequestHead, type MalformedRequest, type ReadHead } from './request-head.ts'

const EMPTY = new BodyReader(NO_BODY)
/** The most pipelined requests that begin in one turn of the event loop. */
const TURN_REQUESTS_MAX = 4
const NONE = Number.POSITIVE_INFINITY

export class ServerConnection implements Wire, LimitedConnection {
  readonly remoteAddress: string
  readonly notes = new Map<string, string>()
  private readonly socket: Socket<ServerConnection>
  private readonly host: Host
  private readonly head: HeadReader
  private readonly lastHead = new LastHead()
  /** `discard`: the answer is written or the request was malformed. Further bytes are dropped until the end. */
  private reading: 'head' | 'body' | 'answer' | 'discard' = 'head'
  private body = EMPTY
  private unreadBytes = 0
  private exchange: ServerExchange | undefined
  private input: Buffer | undefined
  private at = 0
  private isReadingOn = false
  private isPaused = false
  private isLast = false
  /** Whether the TLS handshake is not over. */
  isShaking = false
  /** Whether a request has arrived on it. */
  private isUsed = false
  /** The whole body came with its head, so there is nothing to wait for, even if nobody reads it. */
  private isBodyAtHand = false
  /** The client holds its body back until it receives 100 Continue. */
  private isAwaitingContinue = false
  isClosed = false
  /** Bytes that the client has not taken yet. */
  private unsent: Buffer | CompressedBytes | undefined
  /** Text that was written in this tick. */
  private readonly held: string[] = []
  private heldChars = 0
  private isEnding = false
  private waiters: (() => void)[] = []
  readonly openedMs = performance.now()
  private deadlineMs: number
  private lingerUntilMs = NONE
  private progressMs = 0

  constructor(socket: Socket<ServerConnection>, host: Host) {
    this.socket = socket
    this.host = host
    this.remoteAddress = socket.remoteAddress
    this.head = new HeadReader(host.limits.headBytesMax)
    this.deadlineMs = this.openedMs + host.limits.headTimeoutMs
  }

  /** Whether it is between two requests, and no byte of the next has arrived. */
  get isIdle(): boolean {
    return this.reading === 'head' && this.head.isEmpty && !this.input && !this.isShaking
  }

  get work(): LimitedConnection['work'] {
    if (this.unsent) return 'answering'
    if (this.exchange?.isAnswered !== false) return this.input ? 'arriving' : 'none'
    return this.reading === 'body' ? 'arriving' : 'answering'
  }

  /** If it is idle, it waits for a last request until then. */
  awaitLast(deadlineMs: number): void {
    if (this.isIdle) this.deadlineMs = Math.min(this.deadlineMs, deadlineMs)
  }

  data(bytes: Buffer): void {
    if (this.isEnding) {
      this.deadlineMs = Math.min(performance.now() + this.host.limits.lingerTimeoutMs, this.lingerUntilMs)
      return
    }
    this.input = this.input ? Buffer.concat([this.input.subarray(this.at), bytes]) : bytes
    this.at = 0
    this.readOn()
    if (!this.input || this.input.length - this.at <= AHEAD_BYTES_MAX || this.isPaused) return
    this.isPaused = true
    this.socket.pause()
  }

  readOn(isAgain = false): void {
    // A handler that answers at once calls this again. The loop below goes on with the next request.
    if ((this.isReadingOn && !isAgain) || this.host.isHeld) return
    this.isReadingOn = true
    let left = TURN_REQUESTS_MAX
    while (this.input && this.reading !== 'answer' && !this.isClosed) {
      const { input } = this
      if (this.reading === 'head' && left-- === 0)
        return inNextTurn(
          () => this.readOn(true),
          (error) => this.failed(error),
        )
      if (this.reading === 'head') this.readHead(input)
      else if (this.reading === 'body') this.readBody(input)
      else this.at = input.length
      if (this.at >= input.length) this.input = undefined
    }
    this.isReadingOn = false
    // Everything that was sent ahead is processed, so more may arrive.
    if (!this.input && !this.isClosed) this.readFurther()
  }

  private failed(error: Error): void {
    this.host.onError(error)
    this.destroy()
  }

  private readHead(input: Buffer): void {
    if (this.head.isEmpty) {
      // A line end before a request is ignored, as RFC 9112, section 2.2, asks.
      while (input[this.at] === 0x0d || input[this.at] === 0x0a) this.at++
      if (this.at >= input.length) return
      const again = this.lastHead.again(input, this.at)
      if (again) {
        this.at = this.lastHead.end
        return this.begin(again, this.lastHead.framing, input)
      }
      const first = input[this.at] as number
      // TLS and other protocols are refused at once. Otherwise both sides would wait for a blank line.
      if (first < 0x41 || first > 0x5a) return this.refuse({ status: 400, message: MALFORMED })
      this.deadlineMs = performance.now() + this.host.limits.headTimeoutMs
    }
    const found = this.head.push(input, this.at)
    if (found === 'too_large') {
      const message = `The headers are larger than ${this.host.limits.headBytesMax} bytes.`
      return this.refuse({ status: 431, message })
    }
    this.at = found.end === -1 ? input.length : found.end
    if (found.end === -1) return
    const read = readRequestHead(found.text)
    if (read.kind === 'malformed') return this.refuse(read)
    this.lastHead.remember(found.text, read)
    this.begin(read, read.framing, input)
  }

  private begin(read: ReadHead, framing: Framing, input: Buffer): void {
    this.isUsed = true
    if (read.isLast) this.isLast = true
    this.body = new BodyReader(framing)
    this.isAwaitingContinue = read.expectsContinue && this.body.state === 'open'
    this.reading = 'body'
    this.deadlineMs = NONE
    const exchange = (this.exchange = new ServerExchange(this, read.head, framing))
    const awaited = this.host.waitFor?.(exchange)
    if (!awaited) return this.handle(exchange, input)
    this.reading = 'answer'
    void awaited.then(() => {
      if (this.isClosed) return
      this.reading = 'body'
      this.handle(exchange, this.input ?? Buffer.alloc(0))
      this.readOn()
    })
  }

  private handle(exchange: ServerExchange, input: Buffer): void {
    const end = this.body.endIn(input, this.at)
    this.isBodyAtHand = end !== -1
    if (this.isBodyAtHand) exchange.bodyAtHand(input, this.at, end)
    this.host.handle(exchange)
    exchange.tickIsOver()
    if (this.body.state === 'ended') this.bodyEnded(exchange, input, 0, 0)
  }

  private readBody(input: Buffer): void {
    const { exchange, body } = this
    this.isAwaitingContinue = false
    const from = this.at
    const end = body.takeToEnd(input, from)
    if (end !== -1) {
      this.at = end
      return this.bodyEnded(exchange, input, from, end)
    }
    this.readPart(input, body)
  }

  private readPart(input: Buffer, body: BodyReader): void {
    const { exchange } = this
    const { part, end } = body.push(input, this.at)
    this.at = end
    if (body.state === 'ended') return this.bodyEnded(exchange, part, 0, part.length)
    if (part.length > 0) this.bodyPart(exchange, part)
    if (body.state === 'open') return
    // Later bytes cannot be told from the body any more, so the current answer is the last.
    this.isLast = true
    this.reading = 'discard'
    if (!exchange || exchange.isAnswered) this.close()
    else exchange.bodyEnded({ kind: 'broken_off' })
  }

  private bodyPart(exchange: ServerExchange | undefined, payload: Buffer): void {
    if (exchange && !exchange.isAnswered) return exchange.bodyPart(payload)
    this.unreadBytes += payload.length
    if (this.unreadBytes > UNREAD_BYTES_MAX) this.close()
  }

  /** The bytes from `from` to `to` are the last of the body. */
  private bodyEnded(exchange: ServerExchange | undefined, bytes: Buffer, from: number, to: number): void {
    if (this.reading !== 'body') return
    this.unreadBytes = 0
    this.reading = 'answer'
    if (exchange && !exchange.isAnswered) exchange.bodyLast(bytes, from, to)
    // The answer was complete before the body.
    else this.goOn()
  }

  continue(): void {
    if (!this.isAwaitingContinue) return
    this.isAwaitingContinue = false
    this.write('HTTP/1.1 100 Continue\r\n\r\n')
  }

  setLast(): void {
    this.isLast = true
  }

  persistence({ head: { version } }: ServerExchange): string {
    // Closing is cheaper than receiving a large body that nobody will read. A client that never got 100 Continue may
    // send its body or leave it out, so the next bytes could be either.
    const leavesBody = !this.isBodyAtHand && (this.isAwaitingContinue || this.body.declaredLeft > UNREAD_BYTES_MAX)
    if (this.isLast || this.host.isRetiring || leavesBody) {
      this.isLast = true
      return 'connection: close\r\n'
    }
    return version === '1.0' ? 'connection: keep-alive\r\n' : ''
  }

  answered(exchange: ServerExchange): void {
    if (this.exchange !== exchange || this.isClosed) return
    if (this.isLast) return this.close()
    // The rest of the body must arrive, because the next request begins after it.
    if (this.reading === 'body') this.deadlineMs = performance.now() + this.host.limits.headTimeoutMs
    this.goOn()
  }

  /** Goes on to the next request once this one has arrived, is answered, and the client has taken the answer. */
  private goOn(): void {
    // Without this wait, a client that sends requests and never reads would fill the memory with answers.
    if (this.reading !== 'answer' || this.unsent || !this.exchange?.isAnswered) return
    this.exchange = undefined
    if (this.isLast) return this.close()
    this.reading = 'head'
    this.deadlineMs = performance.now() + this.host.limits.idleTimeoutMs
    this.readFurther()
    this.readOn()
  }

  private readFurther(): void {
    // Without this bound, a client that only sends would fill the memory with its requests.
    if (!this.isPaused || (this.input && this.input.length - this.at > WAITING_BYTES_MAX)) return
    this.isPaused = false
    this.socket.resume()
  }

  private refuse(malformed: MalformedRequest): void {
    this.write(refusalText(this.host, malformed))
    this.close()
  }

  /** Writes to the client at the end of the tick. False if the client has not taken earlier bytes. The rest waits. */
  write(data: string | Uint8Array): boolean {
    if (this.isClosed || data.length === 0) return true
    if (this.unsent) {
      this.unsent = Buffer.concat([unpack(this.unsent), bufferOf(data)])
      return false
    }
    if (typeof data === 'string' && this.heldChars + data.length <= WIRE_CHARS_MAX) {
      if (this.heldChars === 0) flushAtEndOfTick(this)
      this.held.push(data)
      this.heldChars += data.length
      return true
    }
    this.flush()
    if (this.unsent) return this.write(data)
    return this.send(data)
  }

  flush(): void {
    if (this.heldChars === 0) return
    const bytes = this.isClosed ? 0 : fillWireBuffer(this.held)
    this.held.length = this.heldChars = 0
    if (bytes === 0) return
    const taken = Math.max(0, this.socket.write(wireBuffer, 0, bytes))
    if (taken < bytes) this.keep(wireBuffer.subarray(taken, bytes))
  }

  private send(data: string | Uint8Array): boolean {
    const bytes = bufferOf(data)
    const taken = Math.max(0, this.socket.write(bytes))
    if (taken < bytes.length) this.keep(bytes.subarray(taken), typeof data === 'string' && 2 * taken < bytes.length)
    return taken === bytes.length
  }

  /** Keeps bytes that the client has not taken. A view keeps its whole buffer alive, so a small part is copied. */
  private keep(rest: Buffer, isMostOfOurs = false): void {
    this.unsent = pack(rest) ?? (isMostOfOurs ? rest : Buffer.from(rest))
    this.progressMs = performance.now()
  }

  sendRest(): void {
    if (!this.unsent) return
    const rest = unpack(this.unsent)
    const taken = Math.max(0, this.socket.write(rest))
    if (taken > 0) this.progressMs = performance.now()
    if (taken < rest.length) {
      const left = rest.subarray(taken)
      if (taken > 0) this.unsent = pack(left) ?? left
      return
    }
    this.unsent = undefined
    this.wake()
    if (this.isEnding) this.finish()
    else this.goOn()
  }

  flushed(): Promise<void> {
    return this.unsent && !this.isClosed ? new Promise((resolve) => void this.waiters.push(resolve)) : Promise.resolve()
  }

  private wake(): void {
    const { waiters } = this
    this.waiters = []
    for (const wake of waiters) wake()
  }

  /** Closes once everything is sent. */
  close(): void {
    if (this.isEnding || this.isClosed) return
    this.isEnding = true
    this.reading = 'discard'
    this.input = undefined
    this.readFurther()
    this.flush()
    if (!this.unsent) this.finish()
  }

  private finish(): void {
    const { lingerTimeoutMs } = this.host.limits
    this.deadlineMs = performance.now() + lingerTimeoutMs
    this.lingerUntilMs = this.deadlineMs + 5 * lingerTimeoutMs
    // Only our side closes. A full close would send a reset to a client that still sends, and cost it the answer.
    this.socket.shutdown()
  }

  /** Closes at once. Bytes that the client has not taken are lost. */
  destroy(): void {
    this.socket.terminate()
  }

  /** Closes to make room. An answer that the operating system still holds is delivered. */
  dismiss(): void {
    if (this.isUsed) this.leave()
    else this.destroy()
  }

  /** Closes because the server ends. The operating system delivers complete answers. Others are broken off. */
  leave(): void {
    this.flush()
    if (!this.unsent && this.exchange?.isAnswered !== false) this.socket.end()
    else this.destroy()
  }

  closed(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.input = this.unsent = undefined
    this.body.close()
    this.wake()
    this.exchange?.closed()
  }

  /** Called regularly. One timer serves all connections and all their limits. */
  sweep(nowMs: number): void {
    if (this.unsent && nowMs - this.progressMs > this.host.limits.stallTimeoutMs) return this.destroy()
    this.exchange?.checkBody(nowMs)
    if (nowMs < this.deadlineMs || this.unsent) return
    this.deadlineMs = NONE
    // No reset, because the operating system may still be delivering the answer to a slow reader.
    if (this.isEnding) this.socket.end()
    else if (this.isShaking) this.destroy()
    else if (this.reading === 'head' && !this.head.isEmpty) {
      this.refuse({ status: 408, message: 'The headers did not arrive in time.' })
    } else this.close()
  }
}
