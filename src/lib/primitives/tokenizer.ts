import { NumberHeap } from './number-heap.ts'

/**
 * Counts tokens as byte-pair encoding makes them, with the vocabulary in typed arrays: 5 MB and no object per token,
 * where a map from text to rank takes 95. It counts and does not encode: nobody here needs the tokens themselves.
 */

/** Where o200k_base cuts a text into words, each encoded by itself: OpenAI's pattern, published with the vocabulary. */
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
const BEFORE = String.raw`[^\r\n\p{L}\p{N}]?`
const SUFFIX = String.raw`(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?`
const WORDS = [
  `${BEFORE}${UPPER}*${LOWER}+${SUFFIX}`,
  `${BEFORE}${UPPER}+${LOWER}*${SUFFIX}`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
  String.raw`\s*[\r\n]+`,
  String.raw`\s+(?!\S)`,
  String.raw`\s+`,
]

/**
 * Merging is quadratic in the length of a word: 160 KB of one letter would take a minute. In pieces it is linear, and a
 * cut costs at most one token too many.
 */
const PIECE_CHARS = 512
/** A character is at most three bytes for each of its UTF-16 units. */
const PIECE_BYTES = PIECE_CHARS * 3
/** Slots of the table; 200,000 tokens fill less than half. */
const SLOTS = 1 << 19
const NONE = 0x7fffffff
/** A longer word's unions are in a heap: looking through them is quadratic, 1 ms for a piece of Chinese. */
const SCANNED_BYTES_MAX = 96
/** More than a piece has bytes, so that rank and place are one number. */
const PLACES = 2048

const hashOf = (bytes: Uint8Array, from: number, to: number): number => {
  let hash = 0x811c9dc5
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  return (hash ^ (hash >>> 15)) & (SLOTS - 1)
}

export class Tokenizer {
  /** The bytes of all tokens, one after the other, and where each begins. */
  private readonly pool: Uint8Array
  private readonly starts: Uint32Array
  /** Rank + 1 of the token in a slot; 0 where it is free. */
  private readonly slots = new Int32Array(SLOTS)
  private longest = 0
  private readonly words = new RegExp(WORDS.join('|'), 'gu')
  private readonly word = new Uint8Array(PIECE_BYTES)
  /** Of the parts of the word at hand: where each begins, and the rank of its union with the next. */
  private readonly parts = new Int32Array(PIECE_BYTES + 1)
  private readonly unions = new Int32Array(PIECE_BYTES + 1)
  /** Of a long word's parts, by where each begins: where its neighbours do, and whose union may come next. */
  private readonly before = new Int32Array(PIECE_BYTES + 1)
  private readonly behind = new Int32Array(PIECE_BYTES + 1)
  private readonly heap = new NumberHeap(3 * PIECE_BYTES)

  /** `vocabulary`: in tiktoken's format, a line for each token in the order of ranks, its bytes in base64 first. */
  constructor(vocabulary: Uint8Array) {
    this.pool = new Uint8Array((vocabulary.length * 3) >> 2)
    this.starts = new Uint32Array(SLOTS >> 1)
    let end = 0
    let rank = 0
    for (let at = 0; at < vocabulary.length; at = vocabulary.indexOf(LF, at) + 1) {
      const start = end
      for (let bits = 0, digits = 0; ; digits++) {
        const value = DIGITS[vocabulary[at++] as number] as number
        // The padding, or the space in front of the rank, which the order of the lines says as well.
        if (value === NO_DIGIT) break
        bits = (bits << 6) | value
        if (digits % 4 !== 0) this.pool[end++] = bits >>> (6 - 2 * (digits % 4))
      }
      this.starts[rank + 1] = end
      if (end - start > this.longest) this.longest = end - start
      this.insert(rank++)
    }
  }

  /** Text that looks like a control token is counted as the text it is. */
  count(text: string): number {
    let count = 0
    for (let at = 0; at < text.length; at += PIECE_CHARS) count += this.countPiece(text.slice(at, at + PIECE_CHARS))
    return count
  }

  private countPiece(piece: string): number {
    const { words } = this
    let count = 0
    words.lastIndex = 0
    // Every character belongs to a word: each begins where the last ended.
    for (let start = 0; words.test(piece); start = words.lastIndex) {
      const bytes = encodeUtf8(piece, start, words.lastIndex, this.word)
      count += this.rankOf(0, bytes) === NONE ? this.merge(bytes) : 1
    }
    return count
  }

  /** Joins the two neighbours whose union has the lowest rank, again and again; returns what is left of parts. */
  private merge(bytes: number): number {
    if (bytes > SCANNED_BYTES_MAX) return this.mergeLong(bytes)
    const { parts, unions } = this
    let count = bytes
    for (let i = 0; i <= bytes; i++) parts[i] = i
    for (let i = 0; i + 1 < bytes; i++) unions[i] = this.rankOf(i, i + 2)
    while (count > 1) {
      let lowest = 0
      for (let i = 1; i + 1 < count; i++) if ((unions[i] as number) < (unions[lowest] as number)) lowest = i
      if (unions[lowest] === NONE) break
      parts.copyWithin(lowest + 1, lowest + 2, count + 1)
      unions.copyWithin(lowest, lowest + 1, count - 1)
      count--
      if (lowest + 1 < count) unions[lowest] = this.rankOf(parts[lowest] as number, parts[lowest + 2] as number)
      if (lowest > 0) unions[lowest - 1] = this.rankOf(parts[lowest - 1] as number, parts[lowest + 1] as number)
    }
    return count
  }

  /** The same for a word of which looking through all neighbours for each union would take too long. */
  private mergeLong(bytes: number): number {
    const { before, behind, unions, heap } = this
    heap.clear()
    const join = (at: number, end: number): void => {
      const rank = end > bytes ? NONE : this.rankOf(at, end)
      unions[at] = rank
      // Of equal ranks the first comes first.
      if (rank !== NONE) heap.push(rank * PLACES + at)
    }
    for (let i = 0; i < bytes; i++) {
      before[i] = i - 1
      behind[i] = i + 1
      join(i, i + 2)
    }
    let count = bytes
    for (let lowest = heap.pop(); lowest !== undefined; lowest = heap.pop()) {
      const at = lowest % PLACES
      // What has been joined otherwise meanwhile has another union, or is no part any more.
      if (unions[at] !== Math.floor(lowest / PLACES)) continue
      const joined = behind[at] as number
      const next = behind[joined] as number
      unions[joined] = NONE
      behind[at] = next
      if (next < bytes) before[next] = at
      count--
      join(at, next < bytes ? (behind[next] as number) : bytes + 1)
      if (at > 0) join(before[at] as number, next)
    }
    return count
  }

  /** The rank of a part of the word, NONE where it is no token. */
  private rankOf(from: number, to: number): number {
    if (to - from > this.longest) return NONE
    for (let slot = hashOf(this.word, from, to); ; slot = (slot + 1) & (SLOTS - 1)) {
      const rank = (this.slots[slot] as number) - 1
      if (rank === -1) return NONE
      if (this.isToken(rank, from, to)) return rank
    }
  }

  private isToken(rank: number, from: number, to: number): boolean {
    const { pool, word } = this
    const start = this.starts[rank] as number
    if ((this.starts[rank + 1] as number) - start !== to - from) return false
    for (let i = from, at = start; i < to; i++, at++) if (word[i] !== pool[at]) return false
    return true
  }

  private insert(rank: number): void {
    const [from, to] = [this.starts[rank] as number, this.starts[rank + 1] as number]
    let slot = hashOf(this.pool, from, to)
    while (this.slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1)
    this.slots[slot] = rank + 1
  }
}

const LF = 0x0a
const NO_DIGIT = 64
/** The value of each digit of base64. */
const DIGITS = new Uint8Array(256).fill(NO_DIGIT)
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
for (let value = 0; value < ALPHABET.length; value++) DIGITS[ALPHABET.charCodeAt(value)] = value

/** Writes a part of a text to `into`, half a surrogate pair as the replacement character. Returns its bytes. */
function encodeUtf8(text: string, from: number, to: number, into: Uint8Array): number {
  let end = 0
  for (let i = from; i < to; i++) {
    let code = text.charCodeAt(i)
    if (code < 0x80) {
      into[end++] = code
      continue
    }
    if (code >= 0xd800 && code <= 0xdfff) {
      code = text.codePointAt(i) as number
      if (code > 0xffff) i++
      else code = 0xfffd
    }
    if (code < 0x800) into[end++] = 0xc0 | (code >> 6)
    else {
      if (code < 0x10000) into[end++] = 0xe0 | (code >> 12)
      else {
        into[end++] = 0xf0 | (code >> 18)
        into[end++] = 0x80 | ((code >> 12) & 0x3f)
      }
      into[end++] = 0x80 | ((code >> 6) & 0x3f)
    }
    into[end++] = 0x80 | (code & 0x3f)
  }
  return end
}
