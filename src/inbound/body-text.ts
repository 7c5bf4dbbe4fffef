/** Decodes the bodies of requests to text. */
import type { BudgetShare, BudgetOutcome } from '../lib/primitives/shared-budget.ts'
import { wholeCharactersEnd, withoutMark } from '../lib/primitives/utf8.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { NO_BYTES } from '../lib/http/wire-buffer.ts'

export type BodyText =
  | { readonly kind: 'read'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'too_large' | 'broken_off' | 'timeout' | 'not_utf8' | 'share_full' | 'full' }

/** Strict, because a byte that is not UTF-8 would silently change the prompt. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** What a lenient decoder puts in place of a byte that is not UTF-8. */
const REPLACEMENT = '\ufffd'

/** A longer text is decoded strictly at once, because replacing bytes that are not UTF-8 takes 25 ns a byte. */
const LENIENT_BYTES_MAX = 64 * KIB

/** Decodes strictly. It makes no view of the bytes of a small body, because a view costs more than the decoding. */
export function decodeBody(bytes: Buffer, from: number, to: number): BodyText {
  const text = decode(bytes, from, to)
  return text === undefined ? { kind: 'not_utf8' } : { kind: 'read', text: withoutMark(text), bytes: to - from }
}

function decode(bytes: Buffer, from: number, to: number): string | undefined {
  if (to - from <= LENIENT_BYTES_MAX) {
    const text = bytes.toString('utf8', from, to)
    if (!text.includes(REPLACEMENT)) return text
  }
  try {
    return utf8.decode(bytes.subarray(from, to))
  } catch {
    return undefined
  }
}

const BLOCK_BYTES = MIB

/**
 * A body that arrives in pieces. It is decoded block by block, so that no turn of the event loop is long (32 MB at once
 * take 30 ms, or 200 ms if the last byte is wrong) and no received bytes are copied to make room for more. A list of
 * the pieces is no alternative: a body in chunks of one byte would cost a hundred times its size.
 */
export class ArrivingText {
  private readonly bytesMax: number
  /** The budget that its memory is taken from. */
  private readonly share: BudgetShare | undefined
  private taken = 0
  private text = ''
  /** The bytes of the body that are in `text`, and the memory of that text. */
  private textBytes = 0
  private textMemory = 0
  /** The bytes since then, with room for more. */
  private block = NO_BYTES
  private filled = 0
  private isWrong = false

  /** `bytesMax`: the longest that the body can be. */
  constructor(bytesMax: number, share: BudgetShare | undefined) {
    this.bytesMax = bytesMax
    this.share = share
  }

  push(bytes: Buffer): BudgetOutcome {
    let at = 0
    while (at < bytes.length && !this.isWrong) {
      if (this.filled === this.block.length) {
        const taken = this.makeRoom(bytes.length - at)
        if (taken !== 'taken') return taken
      }
      const copied = bytes.copy(this.block, this.filled, at)
      this.filled += copied
      at += copied
    }
    return 'taken'
  }

  /** Returns the result. */
  end(): BodyText {
    if (this.decodeTo(this.filled)) return { kind: 'read', text: this.text, bytes: this.textBytes }
    return { kind: 'not_utf8' }
  }

  /** Returns its memory to the budget. */
  release(): void {
    this.share?.give(this.taken)
    this.taken = 0
  }

  private makeRoom(bytes: number): BudgetOutcome {
    if (this.block.length >= BLOCK_BYTES && !this.decodeTo(wholeCharactersEnd(this.block, 0, this.filled)))
      return 'taken'
    // The block is no larger than the body can become, because its whole size counts against the share.
    const most = Math.min(BLOCK_BYTES, this.bytesMax - this.textBytes)
    const size = Math.min(most, Math.max(this.filled + bytes, this.block.length * 2))
    const lacking = this.textMemory + size - this.taken
    const taken = this.share?.take(lacking, this.taken) ?? 'taken'
    if (taken !== 'taken') return taken
    this.taken += lacking
    if (size !== this.block.length) {
      const larger = Buffer.allocUnsafe(size)
      this.block.copy(larger, 0, 0, this.filled)
      this.block = larger
    }
    return 'taken'
  }

  /** Decodes the block's bytes up to `end`. False if they are not UTF-8. The rest of the body is then dropped. */
  private decodeTo(end: number): boolean {
    const text = this.isWrong ? undefined : decode(this.block, 0, end)
    this.isWrong = text === undefined
    if (text === undefined) this.text = ''
    else this.text = this.textBytes === 0 ? withoutMark(text) : this.text + text
    this.textBytes += end
    // One character beyond Latin-1 makes every character of its block take two bytes.
    this.textMemory += text === undefined || text.length === end ? end : 2 * text.length
    this.block.copy(this.block, 0, end, this.filled)
    this.filled -= end
    return !this.isWrong
  }
}
