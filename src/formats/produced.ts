/** What was produced, for a count: all of a usual answer; of a very long one its beginning, and how much came after. */
export type Produced = { readonly text: string; readonly moreChars: number }

export const asProduced = (text: string | Produced): Produced =>
  typeof text === 'string' ? { text, moreChars: 0 } : text

/** Some 16,000 tokens: more than nearly every answer has, and a fair sample of those that have more. */
const KEPT_CHARS_MAX = 64 * 1024
/** So many pieces may hold on to the reads they were cut from. */
const LOOSE_PIECES_MAX = 32

/** Collects what a stream brings. An upstream that never stops costs no more memory than one that does. */
export class ProducedWords implements Produced {
  text = ''
  moreChars = 0
  private loosePieces = 0

  add(words: string): void {
    if (this.text.length >= KEPT_CHARS_MAX) {
      this.moreChars += words.length
      return
    }
    this.text += words
    if (++this.loosePieces < LOOSE_PIECES_MAX && this.text.length < KEPT_CHARS_MAX) return
    this.loosePieces = 0
    // Reading a character makes one text of the pieces. Until then each keeps the whole event it was cut from alive.
    this.text.charCodeAt(0)
  }
}
