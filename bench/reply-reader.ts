/** The facts of one HTTP/1.1 answer, counted as it arrived. */
export type Reply = {
  status: number
  /** The bytes of the decoded body. */
  bodyBytes: number
  /** Server-sent events: blank lines in the decoded body. */
  events: number
  /** The last bytes of the decoded body. */
  tail: string
  /** The decoded body, if `keep` was given. */
  body: string
}

const LF = 0x0a
const TAIL_BYTES = 16

/**
 * Reads the answers of one connection, one at a time: chunked or of known length. It copies nothing of a body that is
 * not kept, and counts events exactly, however reads and chunks cut them.
 */
export class ReplyReader {
  reply = fresh()
  private stage: 'head' | 'size' | 'payload' | 'broken' = 'head'
  private framing: 'chunked' | 'length' = 'length'
  private head = ''
  private left = 0
  /** The line end after a chunk, and after the chunk of size 0. */
  private skip = 0
  private isLastChunk = false
  private lastLineEnd = -2
  private kept: Buffer[] | undefined

  /** Prepares for the next answer. `keep` keeps its body. */
  begin(body: 'count' | 'keep'): void {
    this.reply = fresh()
    this.stage = 'head'
    this.head = ''
    this.left = 0
    this.isLastChunk = false
    this.lastLineEnd = -2
    this.kept = body === 'keep' ? [] : undefined
  }

  /** Takes the bytes of a read. */
  push(bytes: Buffer): 'open' | 'done' | 'broken' {
    let at = 0
    while (at < bytes.length) {
      if (this.stage === 'broken') return 'broken'
      if (this.skip > 0) {
        const skipped = Math.min(this.skip, bytes.length - at)
        this.skip -= skipped
        at += skipped
        if (this.skip === 0 && this.isLastChunk) return this.end(at === bytes.length)
      } else if (this.stage === 'head') {
        at = this.readHead(bytes, at)
        if (this.isEmpty()) return this.end(at === bytes.length)
      } else if (this.stage === 'size') at = this.readSize(bytes, at)
      else {
        at = this.readPayload(bytes, at)
        if (this.left === 0 && this.framing === 'length') return this.end(at === bytes.length)
      }
    }
    return 'open'
  }

  /** Whether the head announced a body of length 0. */
  private isEmpty(): boolean {
    return this.stage === 'payload' && this.left === 0
  }

  /** Nothing may follow an answer before the next request. */
  private end(isAll: boolean): 'done' | 'broken' {
    if (this.kept) this.reply.body = Buffer.concat(this.kept).toString()
    return isAll ? 'done' : 'broken'
  }

  private readHead(bytes: Buffer, at: number): number {
    const before = this.head.length
    this.head += bytes.toString('latin1', at, Math.min(bytes.length, at + 16_384))
    const end = this.head.indexOf('\r\n\r\n')
    if (end === -1) return bytes.length
    const head = this.head.slice(0, end)
    this.reply.status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    this.framing = length ? 'length' : 'chunked'
    this.left = Number(length?.[1] ?? 0)
    this.stage = length ? 'payload' : /\r\ntransfer-encoding: *chunked/i.test(head) ? 'size' : 'broken'
    return at + end + 4 - before
  }

  private readSize(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const code = bytes[at] as number
      if (code === LF) {
        this.stage = 'payload'
        if (this.left === 0) {
          this.isLastChunk = true
          this.skip = 2
        }
        return at + 1
      }
      if (code !== 0x0d) this.left = this.left * 16 + (code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57)
    }
    return bytes.length
  }

  private readPayload(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + this.left)
    const { reply } = this
    for (let at = bytes.indexOf(LF, from); at !== -1 && at < to; at = bytes.indexOf(LF, at + 1)) {
      const position = reply.bodyBytes + at - from
      if (position === this.lastLineEnd + 1) reply.events++
      this.lastLineEnd = position
    }
    reply.bodyBytes += to - from
    const tail = bytes.toString('latin1', Math.max(from, to - TAIL_BYTES), to)
    reply.tail = tail.length === TAIL_BYTES ? tail : (reply.tail + tail).slice(-TAIL_BYTES)
    this.kept?.push(Buffer.from(bytes.subarray(from, to)))
    this.left -= to - from
    if (this.left === 0 && this.framing === 'chunked') {
      this.stage = 'size'
      this.skip = 2
    }
    return to
  }
}

const fresh = (): Reply => ({ status: 0, bodyBytes: 0, events: 0, tail: '', body: '' })
