import { detached } from '../../lib/primitives/copy-string.ts'
import { KIB } from '../../lib/primitives/units.ts'

/** What was produced, for a count: all of a usual answer; of a very long one its beginning, and how much came after. */
export type GeneratedText = {
  readonly text: string
  readonly moreChars: number
  /** Of all of it, in UTF-8. No tokenizer makes more tokens of a text than it has bytes; than characters, some do. */
  readonly bytes: number
}

export const asGeneratedText = (text: string | GeneratedText): GeneratedText =>
  typeof text === 'string' ? { text, moreChars: 0, bytes: Buffer.byteLength(text) } : text

/** All that was produced, in characters. */
export const charsOf = (produced: string | GeneratedText): number =>
  typeof produced === 'string' ? produced.length : produced.text.length + produced.moreChars

/** The tokens of all that was produced, by those of its `text`: what was not kept is taken to be like it. */
export function scaledTokens(counted: number, { text, moreChars, bytes }: GeneratedText): number {
  if (moreChars === 0) return counted
  return Math.ceil((counted * bytes) / Math.max(Buffer.byteLength(text), 1))
}

/** Some 16,000 tokens: more than nearly every answer has, and a fair sample of those that have more. */
const KEPT_CHARS_MAX = 64 * KIB
/** So many pieces may hold on to the reads they were cut from. */
const LOOSE_PIECES_MAX = 32

/** Collects what a stream brings. An upstream that never stops costs no more memory than one that does. */
export class GeneratedTextBuffer implements GeneratedText {
  moreChars = 0
  private kept = ''
  /** Each piece keeps the whole read it was cut from alive, until it is copied out of it. */
  private loose = ''
  private loosePieces = 0
  /** Of all but what is loose: few streams are asked for it, and to count a piece costs as much as to keep it. */
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
