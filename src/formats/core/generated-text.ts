import { detached } from '../../lib/primitives/copy-string.ts'
import { KIB } from '../../lib/primitives/units.ts'

/** Generated text, for counting tokens. A very long answer is kept as its beginning and the length of the rest. */
export type GeneratedText = {
  readonly text: string
  readonly moreChars: number
  /**
   * The UTF-8 bytes of the whole text. A tokenizer never makes more tokens than bytes; some make more than characters.
   */
  readonly bytes: number
}

export const asGeneratedText = (text: string | GeneratedText): GeneratedText =>
  typeof text === 'string' ? { text, moreChars: 0, bytes: Buffer.byteLength(text) } : text

/** The length of the whole text, in characters. */
export const charsOf = (produced: string | GeneratedText): number =>
  typeof produced === 'string' ? produced.length : produced.text.length + produced.moreChars

/** The tokens of the whole text, from those of its kept beginning. The rest is assumed to be similar. */
export function scaledTokens(counted: number, { text, moreChars, bytes }: GeneratedText): number {
  if (moreChars === 0) return counted
  return Math.ceil((counted * bytes) / Math.max(Buffer.byteLength(text), 1))
}

/** Some 16,000 tokens: more than nearly every answer has, and a fair sample of a longer one. */
const KEPT_CHARS_MAX = 64 * KIB
/** At most this many pieces may keep alive the reads that they were cut from. */
const LOOSE_PIECES_MAX = 32

/** Collects the text of a stream. An upstream that never stops takes no more memory than any other. */
export class GeneratedTextBuffer implements GeneratedText {
  moreChars = 0
  private kept = ''
  /** Each piece keeps alive the whole read that it was cut from, until it is copied. */
  private loose = ''
  private loosePieces = 0
  /**
   * The bytes of everything but the loose pieces. Few streams need the count, and counting costs as much as keeping.
   */
  private countedBytes = 0

  get text(): string {
    return this.kept + this.loose
  }

  get bytes(): number {
    return this.countedBytes + Buffer.byteLength(this.loose)
  }

  add(words: string): void {
    const chars = this.kept.length + this.loose.length
    if (chars >= KEPT_CHARS_MAX) {
      this.moreChars += words.length
      this.countedBytes += Buffer.byteLength(words)
      return
    }
    this.loose += words
    if (++this.loosePieces < LOOSE_PIECES_MAX && chars + words.length < KEPT_CHARS_MAX) return
    this.kept += detached(this.loose)
    this.countedBytes += Buffer.byteLength(this.loose)
    this.loose = ''
    this.loosePieces = 0
  }
}
