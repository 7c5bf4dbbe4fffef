/**
 * Reads multipart/form-data as it arrives. It holds at most the head of one part. The contents of a part are passed on
 * in the push that brings them.
 */
import { NO_BYTES } from './wire-buffer.ts'

export type MultipartLimits = {
  readonly partsMax: number
  readonly headBytesMax: number
}

/** Bytes are views of pushed bytes or of a copy. They are valid until the next push. */
export type MultipartEvent =
  | {
      readonly kind: 'part'
      readonly name: string
      /** Undefined for a field that is no file. The client chooses the name, so it cannot be trusted. */
      readonly filename: string | undefined
    }
  | { readonly kind: 'data'; readonly bytes: Buffer }
  | { readonly kind: 'part_end' }

/** The form cannot be read. The fault is always the client's. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError'
}

const BOUNDARY_MAX = 70
const BOUNDARY = /^multipart\/form-data\s*;(?:[^"]|"[^"]*")*?\bboundary=(?:"([^"]+)"|([^\s;"]+))/i
const BOUNDARY_TEXT = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/

/** The boundary in a Content-Type. Undefined if there is none or it is not allowed. */
export function boundaryOf(contentType: string): string | undefined {
  const match = BOUNDARY.exec(contentType)
  const boundary = match?.[1] ?? match?.[2] ?? ''
  return boundary.length <= BOUNDARY_MAX && BOUNDARY_TEXT.test(boundary) ? boundary : undefined
}

const BLANK_LINE = '\r\n\r\n'
const DASH = 0x2d
const CR = 0x0d
const LF = 0x0a

type Stage = 'preamble' | 'delimiter' | 'head' | 'body' | 'end'

export class MultipartReader {
  private readonly delimiter: Buffer
  private readonly limits: MultipartLimits
  private stage: Stage = 'preamble'
  /** Bytes that cannot be classified yet. They begin with the line end that the first delimiter lacks. */
  private rest: Buffer = Buffer.from('\r\n')
  private parts = 0

  constructor(boundary: string, limits: MultipartLimits) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`)
    this.limits = limits
  }

  /** Whether the last delimiter has arrived. Bytes after it are ignored. */
  get isEnded(): boolean {
    return this.stage === 'end'
  }

  /** The events in the bytes. Throws MultipartError if they are no form. */
  *push(bytes: Buffer): Generator<MultipartEvent> {
    if (this.stage === 'end') return
    if (this.stage === 'body' && this.isApart(bytes)) {
      yield { kind: 'data', bytes: this.rest }
      this.rest = NO_BYTES
    }
    const input = this.rest.length > 0 ? Buffer.concat([this.rest, bytes]) : bytes
    let at = 0
    for (;;) {
      const from = at
      const stage: Stage = this.stage
      if (this.stage === 'preamble') at = this.skip(input, at)
      else if (this.stage === 'delimiter') at = this.readDelimiter(input, at)
      else if (this.stage === 'head') {
        const end = this.headEnd(input, at)
        if (end !== -1) {
          yield this.partOf(input.toString('utf8', at, end))
          at = end + BLANK_LINE.length
        }
      } else if (this.stage === 'body') {
        const end = input.indexOf(this.delimiter, at)
        // The end of the bytes may be the start of a delimiter.
        const to = end === -1 ? Math.max(at, input.length - this.delimiter.length + 1) : end
        if (to > at) yield { kind: 'data', bytes: input.subarray(at, to) }
        at = to
        if (end !== -1) {
          yield { kind: 'part_end' }
          at += this.delimiter.length
          this.stage = 'delimiter'
        }
      } else break
      if (at === from && this.stage === stage) break
    }
    this.rest = Buffer.from(input.subarray(at))
  }

  /**
   * Whether no delimiter spans the kept bytes and the new ones. Then they need not be joined, which would copy them.
   */
  private isApart(bytes: Buffer): boolean {
    const { rest, delimiter } = this
    if (rest.length === 0 || bytes.length < delimiter.length) return false
    return !Buffer.concat([rest, bytes.subarray(0, delimiter.length)]).includes(delimiter)
  }

  private skip(input: Buffer, from: number): number {
    const found = input.indexOf(this.delimiter, from)
    if (found === -1) return Math.max(from, input.length - this.delimiter.length + 1)
    this.stage = 'delimiter'
    return found + this.delimiter.length
  }

  /** Reads the bytes after a delimiter: a line end, or two dashes after the last one. */
  private readDelimiter(input: Buffer, from: number): number {
    let at = from
    while (input[at] === 0x20 || input[at] === 0x09) at++
    if (at - from > this.limits.headBytesMax) throw new MultipartError('a boundary is not followed by a line end')
    if (input.length < at + 2) return from
    const [first, second] = [input[at], input[at + 1]]
    if (first === DASH && second === DASH) this.stage = 'end'
    else if (first === CR && second === LF) this.stage = 'head'
    else throw new MultipartError('a boundary is not followed by a line end')
    // The line end is not consumed, because it belongs to the blank line of a part without headers.
    return this.stage === 'end' ? input.length : at
  }

  /** The end of a part's head, or -1 while it is incomplete. */
  private headEnd(input: Buffer, from: number): number {
    const end = input.indexOf(BLANK_LINE, from)
    const length = (end === -1 ? input.length : end) - from
    if (length > this.limits.headBytesMax) throw new MultipartError('the head of a part is too large')
    return end
  }

  private partOf(head: string): MultipartEvent {
    if (++this.parts > this.limits.partsMax) {
      throw new MultipartError(`a form may have ${this.limits.partsMax} parts at most`)
    }
    const line = head.split('\r\n').find((one) => /^content-disposition\s*:/i.test(one)) ?? ''
    const name = parameter(line, 'name')
    if (!/:\s*form-data\b/i.test(line) || !name || name.length > 128) {
      throw new MultipartError('a part has no name')
    }
    this.stage = 'body'
    return { kind: 'part', name, filename: parameter(line, 'filename') }
  }
}

function parameter(line: string, name: string): string | undefined {
  const match = new RegExp(String.raw`;\s*${name}=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))`, 'i').exec(line)
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2]
}
