/**
 * HTTP/1.1 framing, which both ends of the gateway share. It is strict where the standard lets parsers differ: a
 * message that two programs could read differently is refused from any sender (RFC 9112 §6, §11).
 */
import { parseHead, type HeaderFields } from './message-head.ts'
import { KIB } from '../primitives/units.ts'
import { limit } from '../primitives/limit.ts'

/** The length of a message's body. `close`: the body ends with the connection. Only an answer may have this. */
export type Framing =
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' }

const TAB = 0x09
const CR = 0x0d
const LF = 0x0a

const LENGTH = /^\d{1,15}$/

/** The framing by the headers. Undefined if they contradict each other or name an unknown coding. */
export function framingOf(headers: HeaderFields, absent: Framing): Framing | undefined {
  const coding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  if (coding !== undefined) {
    return length === undefined && coding.toLowerCase() === 'chunked' ? { kind: 'chunked' } : undefined
  }
  if (length === undefined) return absent
  return LENGTH.test(length) ? { kind: 'length', bytes: Number(length) } : undefined
}

const BLANK_LINE = '\r\n\r\n'
const BLANK_LINE_BYTES = Buffer.from(BLANK_LINE)

/** Collects the bytes of a head. */
export class HeadReader {
  private text = ''
  private readonly bytesMax: number

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  get isEmpty(): boolean {
    return this.text === ''
  }

  /**
   * Whether a blank line has begun within the bound: a head of just its bound is taken, however its bytes are split.
   */
  private get mayEnd(): boolean {
    const endsWith = (length: number): boolean =>
      this.text.length - length <= this.bytesMax && this.text.endsWith(BLANK_LINE.slice(0, length))
    return endsWith(3) || endsWith(2) || endsWith(1)
  }

  /** Takes bytes up to the blank line. `end` is where the body begins, or -1 while the head is incomplete. */
  push(bytes: Buffer, from: number): { readonly end: number; readonly text: string } | 'too_large' {
    const before = this.text.length
    // The head is nearly always in one read. Then only its own bytes are decoded.
    const blank = before === 0 ? bytes.indexOf(BLANK_LINE_BYTES, from) : -1
    if (blank !== -1 && blank - from <= this.bytesMax) {
      return { end: blank + BLANK_LINE.length, text: bytes.toString('latin1', from, blank) }
    }
    const incoming = bytes.toString('latin1', from, Math.min(bytes.length, from + this.bytesMax + BLANK_LINE.length))
    this.text = before === 0 ? incoming : this.text + incoming
    const length = this.text.indexOf(BLANK_LINE, Math.max(0, before - BLANK_LINE.length))
    if (length > this.bytesMax || (length === -1 && this.text.length > this.bytesMax && !this.mayEnd))
      return 'too_large'
    if (length === -1) return { end: -1, text: '' }
    const text = this.text.slice(0, length)
    this.text = ''
    return { end: from + length + BLANK_LINE.length - before, text }
  }
}

const SEMICOLON = 0x3b
const SPACE = 0x20
/**
 * Chunk extensions: a name and perhaps a value (RFC 9112, 7.1.1). Blanks may be around both, but not after the last.
 */
const EXTENSIONS =
  /^(?:[\t ]*;[\t ]*[\w!#$%&'*+.^`|~-]+(?:[\t ]*=[\t ]*(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)+$/
/** The bounds of a size line with its extensions, and of all trailers together. */
const SIZE_LINE_MAX = limit('chunkLineCharsMax', 256, 'A longer chunk size line is malformed.')
const TRAILERS_MAX = limit('trailerBytesMax', 8 * KIB, 'Larger trailers are malformed.')

const hexDigit = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Extracts a body from the bytes of a connection. Its parts are views into these bytes. */
export class BodyReader {
  /** `ended`: the body is complete. `broken`: its framing is wrong, and nothing more can be read. */
  state: 'open' | 'ended' | 'broken' = 'open'
  private readonly kind: Framing['kind']
  /** The missing payload bytes of the body, or of the chunk. */
  private left: number
  private stage: 'size' | 'extension' | 'size-lf' | 'payload' | 'cr' | 'lf' | 'trailers' = 'size'
  private digits = 0
  /** The rest of the size line after the size. */
  private extensions = ''
  private trailer = ''

  constructor(framing: Framing) {
    this.kind = framing.kind
    this.left = framing.kind === 'length' ? framing.bytes : 0
    if (framing.kind === 'length' && framing.bytes === 0) this.state = 'ended'
  }

  /** The missing bytes of a body of known length. 0 for other bodies. */
  get declaredLeft(): number {
    return this.kind === 'length' ? this.left : 0
  }

  /** The end of the body if `bytes` contains all of its rest from `from` on, as is nearly always the case. Else -1. */
  endIn(bytes: Buffer, from: number): number {
    return this.kind !== 'length' || this.state !== 'open' || bytes.length - from < this.left ? -1 : from + this.left
  }

  /** The same, and ends the body there. If it returns -1, the bytes must be pushed. */
  takeToEnd(bytes: Buffer, from: number): number {
    const end = this.endIn(bytes, from)
    if (end === -1) return -1
    this.left = 0
    this.state = 'ended'
    return end
  }

  /**
   * Reads from `from` on. Returns the bytes of the body as one part, which may be empty, and the position after them.
   * Chunks are joined in place, because a read is up to half a megabyte and a copy would be as large. One part for all
   * chunks also bounds the work for a sender of chunks of one byte.
   */
  push(bytes: Buffer, from: number): { readonly part: Buffer; readonly end: number } {
    if (this.kind === 'chunked') return this.chunks(bytes, from)
    if (this.kind === 'close') return { part: bytes.subarray(from), end: bytes.length }
    const end = Math.min(bytes.length, from + this.left)
    this.left -= end - from
    if (this.left === 0) this.state = 'ended'
    return { part: bytes.subarray(from, end), end }
  }

  /** The end of the connection. It ends a body without a length, and breaks every other body. */
  close(): void {
    if (this.state === 'open') this.state = this.kind === 'close' ? 'ended' : 'broken'
  }

  private chunks(bytes: Buffer, from: number): { readonly part: Buffer; readonly end: number } {
    let at = from
    let start = from
    let end = from
    while (at < bytes.length && this.state === 'open') {
      if (this.stage === 'size' && this.digits === 0) at = this.readSize(bytes, at)
      if (at === bytes.length) break
      if (this.stage === 'payload') {
        const to = Math.min(bytes.length, at + this.left)
        this.left -= to - at
        if (end === start) start = end = at
        if (end === at) end = to
        else if (to - at === 1) bytes[end++] = bytes[at] as number
        else {
          bytes.copyWithin(end, at, to)
          end += to - at
        }
        at = to
        if (this.left > 0) break
        // The line end and the next size nearly always follow.
        const isEnded = bytes[at] === CR && bytes[at + 1] === LF
        this.stage = isEnded ? 'size' : 'cr'
        if (isEnded) at += 2
      } else if (this.stage === 'trailers') {
        at = this.readTrailers(bytes, at)
      } else {
        this.readByte(bytes[at] as number)
        at++
      }
    }
    return { part: bytes.subarray(start, end), end: at }
  }

  /** Reads a whole size line without extensions. Returns its end, or its beginning if it is any other line. */
  private readSize(bytes: Buffer, from: number): number {
    let at = from
    let size = 0
    for (let digit = hexDigit(bytes[at] ?? 0); digit >= 0 && at - from < 8; digit = hexDigit(bytes[++at] ?? 0)) {
      size = size * 16 + digit
    }
    if (at === from || bytes[at] !== CR || bytes[at + 1] !== LF) return from
    this.left = size
    this.stage = size === 0 ? 'trailers' : 'payload'
    return at + 2
  }

  /** Reads one byte of a size line, or of the line end after a payload. */
  private readByte(code: number): void {
    switch (this.stage) {
      case 'size': {
        const digit = hexDigit(code)
        // Eight digits are 4 GiB. Nobody sends a larger chunk, and a longer number could exceed the safe integers.
        if (digit >= 0 && this.digits < 8) {
          this.left = this.left * 16 + digit
          this.digits++
        } else if (this.digits > 0 && code === CR) this.stage = 'size-lf'
        else if (this.digits > 0 && (code === SEMICOLON || code === SPACE || code === TAB)) {
          this.stage = 'extension'
          this.extensions = String.fromCharCode(code)
        } else this.state = 'broken'
        break
      }
      case 'extension':
        if (code !== CR) {
          this.extensions += String.fromCharCode(code)
          if (this.extensions.length > SIZE_LINE_MAX) this.state = 'broken'
        } else if (EXTENSIONS.test(this.extensions)) this.stage = 'size-lf'
        else this.state = 'broken'
        break
      case 'size-lf':
        if (code === LF) this.stage = this.left === 0 ? 'trailers' : 'payload'
        else this.state = 'broken'
        this.digits = 0
        this.extensions = ''
        break
      case 'cr':
        if (code === CR) this.stage = 'lf'
        else this.state = 'broken'
        break
      default:
        if (code === LF) this.stage = 'size'
        else this.state = 'broken'
    }
  }

  /** Reads and drops trailers. Nobody needs them, and merging them into the headers would enable attacks. */
  private readTrailers(bytes: Buffer, from: number): number {
    const before = this.trailer.length
    this.trailer += bytes.toString('latin1', from, Math.min(bytes.length, from + TRAILERS_MAX))
    const blank = this.trailer.startsWith('\r\n') ? 0 : this.trailer.indexOf(BLANK_LINE)
    if (blank === -1) {
      if (this.trailer.length >= TRAILERS_MAX) this.state = 'broken'
      return Math.min(bytes.length, from + TRAILERS_MAX)
    }
    // With their blank line, however their bytes are split.
    const isShort = blank + BLANK_LINE.length <= TRAILERS_MAX
    const isSound = isShort && (blank === 0 || parseHead(`\r\n${this.trailer.slice(0, blank)}`) !== undefined)
    this.state = isSound ? 'ended' : 'broken'
    return from + blank + (blank === 0 ? 2 : BLANK_LINE.length) - before
  }
}
