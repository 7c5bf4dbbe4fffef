import { NumberHeap } from './number-heap.ts'

/**
 * Counts the tokens of byte-pair encoding. The vocabulary is in typed arrays, which take 5 MB without an object per
 * token. A map from text to rank takes 95 MB. It does not encode, because the gateway needs only the count.
 */

/** The pattern that splits a text into words for o200k_base. OpenAI published it with the vocabulary. */
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
 * Merging is quadratic in the length of a word: 160 KB of one letter would take a minute. With pieces it is linear. A
 * cut adds at most one token.
 */
const PIECE_CHARS = 512
/** A character has at most three bytes per UTF-16 unit. */
const PIECE_BYTES = PIECE_CHARS * 3
/** Slots of the hash table. 200,000 tokens fill less than half of them. */
const SLOTS = 1 << 19
const NONE = 0x7fffffff
/** The unions of a longer word are in a heap, because a scan is quadratic: 1 ms for a piece of Chinese. */
const SCANNED_BYTES_MAX = 96
/** More than the bytes of a piece, so that rank and place fit in one number. */
const PLACES = 2048

const hashOf = (bytes: Uint8Array, from: number, to: number): number => {
  let hash = 0x811c9dc5
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  return (hash ^ (hash >>> 15)) & (SLOTS - 1)
}

export class Tokenizer {
  /** The bytes of all tokens in sequence, and the start of each. */
  private readonly pool: Uint8Array
  private readonly starts: Uint32Array
  /** Rank + 1 of the token in a slot, or 0 if the slot is free. */
  private readonly slots = new Int32Array(SLOTS)
  private longest = 0
  private readonly words = new RegExp(WORDS.join('|'), 'gu')
  private readonly word = new Uint8Array(PIECE_BYTES)
  /** For each part of the current word: its start, and the rank of its union with the next part. */
  private readonly parts = new Int32Array(PIECE_BYTES + 1)
  private readonly unions = new Int32Array(PIECE_BYTES + 1)
  /** For the parts of a long word, by their starts: the starts of both neighbours, and a heap of possible unions. */
  private readonly before = new Int32Array(PIECE_BYTES + 1)
  private readonly behind = new Int32Array(PIECE_BYTES + 1)
  private readonly heap = new NumberHeap(3 * PIECE_BYTES)

  /**
   * `vocabulary`: tiktoken's format, one line per token in the order of ranks, which begins with its bytes in base64.
   */
  constructor(vocabulary: Uint8Array) {
    this.pool = new Uint8Array((vocabulary.length * 3) >> 2)
    this.starts = new Uint32Array(SLOTS >> 1)
    let end = 0
    let rank = 0
    for (let at = 0; at < vocabulary.length; at = vocabulary.indexOf(LF, at) + 1) {
      const start = end
      for (let bits = 0, digits = 0; ; digits++) {
        const value = DIGITS[vocabulary[at++] as number] as number
        // The padding, or the space before the rank. The order of the lines already gives the rank.
        if (value === NO_DIGIT) break
        bits = (bits << 6) | value
        if (digits % 4 !== 0) this.pool[end++] = bits >>> (6 - 2 * (digits % 4))
      }
      this.starts[rank + 1] = end
      if (end - start > this.longest) this.longest = end - start
      this.insert(rank++)
    }
  }

  /** Counts text that looks like a control token as ordinary text. */
  count(text: string): number {
    let count = 0
    for (let at = 0; at < text.length; at += PIECE_CHARS) count += this.countPiece(text.slice(at, at + PIECE_CHARS))
    return count
  }

  private countPiece(piece: string): number {
    const { words } = this
    let count = 0
    words.lastIndex = 0
    // Every character belongs to a word, so each word begins at the end of the last.
    for (let start = 0; words.test(piece); start = words.lastIndex) {
      const bytes = encodeUtf8(piece, start, words.lastIndex, this.word)
      count += this.rankOf(0, bytes) === NONE ? this.merge(bytes) : 1
    }
    return count
  }

  /** Repeatedly joins the two neighbours whose union has the lowest rank. Returns the number of remaining parts. */
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

  /** The same for a long word, for which a scan of all neighbours for each union would take too long. */
  private mergeLong(bytes: number): number {
    const { before, behind, unions, heap } = this
    heap.clear()
    const join = (at: number, end: number): void => {
      const rank = end > bytes ? NONE : this.rankOf(at, end)
      unions[at] = rank
      // Of equal ranks, the first part comes first.
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
      // A part that was joined otherwise meanwhile has another union, or no longer exists.
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

  /** The rank of a part of the word, or NONE if it is no token. */
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

/**
 * Writes a part of a text to `into`. Half a surrogate pair becomes the replacement character. Returns the byte count.
 */
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
