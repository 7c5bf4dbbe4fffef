/** Reads a body as text. */
import type { MemoryShare } from '../lib/runtime/reply-memory.ts'
import { wholeCharactersEnd, withoutMark } from '../lib/primitives/utf8.ts'
import type { IncomingResponse, Sink } from './exchange.ts'
import { MIB } from '../lib/primitives/units.ts'

/** Receives a body as text, once. Undefined if the body is too large or breaks off. */
export type TextTaker = { text(text: string | undefined): void }

/** The reader of a long body, which takes its memory from a shared budget. */
export type LongBodyReader = {
  memoryShare(): MemoryShare | undefined
  /** Called when reading waits for memory, so that the silence is not counted against the upstream. */
  waits(isWaiting: boolean): void
}

const BLOCK_BYTES = MIB

/** One character beyond Latin-1 makes every character of a text take two bytes. */
const memoryOf = (text: string, utf8Bytes: number): number => (text.length === utf8Bytes ? utf8Bytes : 2 * text.length)

/**
 * Collects a body as UTF-8. It is lenient like `fetch`, so an invalid byte becomes a replacement character. A body that
 * comes in one read is decoded in place. A long one is decoded block by block: 32 MB at once take 30 ms, or 500 ms if
 * much of it is invalid.
 */
class TextSink implements Sink {
  private readonly response: IncomingResponse
  private readonly bytesMax: number
  private readonly taker: TextTaker
  private readonly reader: LongBodyReader | undefined
  /** The longest that the body can be. */
  private readonly most: number
  /** The share of the reply memory, from the first block on. */
  private memory: MemoryShare | undefined
  private bytes = 0
  /** The blocks are joined once, at the end. A growing text would be joined in the turn that first reads it. */
  private readonly blocks: string[] = []
  /** The bytes since the last block. */
  private parts: Buffer[] | undefined
  private partBytes = 0

  constructor(response: IncomingResponse, bytesMax: number, taker: TextTaker, reader: LongBodyReader | undefined) {
    this.response = response
    this.bytesMax = bytesMax
    this.taker = taker
    this.reader = reader
    this.most = response.declaredBytes || bytesMax
  }

  part(bytes: Buffer): void {
    this.bytes += bytes.length
    this.partBytes += bytes.length
    if (this.bytes > this.bytesMax) return this.refuse()
    this.memory?.moves()
    ;(this.parts ??= []).push(Buffer.from(bytes))
    if (this.partBytes < BLOCK_BYTES) return
    const block = Buffer.concat(this.parts)
    const end = wholeCharactersEnd(block, 0, block.length)
    const text = block.toString('utf8', 0, end)
    this.add(text)
    this.parts = [Buffer.from(block.subarray(end))]
    this.partBytes = block.length - end
    this.memory ??= this.reader?.memoryShare()
    const taken = memoryOf(text, end)
    // The rest is assumed to be alike.
    const toCome = Math.ceil(((this.most - this.bytes) * taken) / end)
    if (this.memory?.grow(taken, toCome, () => this.setWaiting(false)) === false) this.setWaiting(true)
  }

  /** Refuses a body that is too long. The wait for memory ends first, because it is not the cause. */
  private refuse(): void {
    this.reader?.waits(false)
    this.response.cancel()
  }

  private setWaiting(isWaiting: boolean): void {
    if (isWaiting) this.response.pause()
    else this.response.resume()
    this.reader?.waits(isWaiting)
  }

  end(last: Buffer): void {
    this.endIn(last, 0, last.length)
  }

  endIn(bytes: Buffer, from: number, to: number): void {
    if (this.bytes + to - from > this.bytesMax) {
      this.memory?.settle()
      return this.taker.text(undefined)
    }
    const rest = this.parts
      ? Buffer.concat([...this.parts, bytes.subarray(from, to)]).toString('utf8')
      : bytes.toString('utf8', from, to)
    this.memory?.settle(memoryOf(rest, this.partBytes + to - from))
    this.add(rest)
    this.taker.text(this.blocks.length === 1 ? this.blocks[0] : this.blocks.join(''))
  }

  private add(text: string): void {
    this.blocks.push(this.blocks.length === 0 ? withoutMark(text) : text)
  }

  broken(): void {
    this.memory?.settle()
    this.taker.text(undefined)
  }
}

/** Reads a body up to `bytesMax`. */
export function collectText(
  response: IncomingResponse,
  bytesMax: number,
  taker: TextTaker,
  reader?: LongBodyReader,
): void {
  if (response.declaredBytes > bytesMax) {
    response.cancel()
    return taker.text(undefined)
  }
  response.deliver(new TextSink(response, bytesMax, taker, reader))
}

/** `collectText` as a promise. */
export const readText = (response: IncomingResponse, bytesMax: number): Promise<string | undefined> =>
  new Promise((resolve) => collectText(response, bytesMax, { text: resolve }))
