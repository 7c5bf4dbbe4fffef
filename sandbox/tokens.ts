/**
 * The sandbox's own tokenisation. It is no vendor's, but an honest one: deterministic, and the pieces joined give the
 * text back. One token is a run of up to 5 letters, a run of up to 3 digits or a single other character, each with the
 * space before it; other white space counts one token per character. English comes out near 4 characters a token.
 *
 * Every piece is matched greedily without looking ahead, therefore cutting a text at a token boundary never changes the
 * count of what is left: `max_tokens` can be honoured exactly.
 */
const PIECE = / ?\p{L}{1,5}| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]|\s/gu

/** A space and five letters of two code units each. */
const TOKEN_CHARS_MAX = 11

/** A text and how many tokens it has. */
export type CountedText = { text: string; tokens: number }

export const NO_WORDS: CountedText = { text: '', tokens: 0 }

export function tokenize(text: string): string[] {
  return text.match(PIECE) ?? []
}

/** The tokens one by one, for whoever needs no list of them. */
export function* tokensOf(text: string): Generator<string> {
  const piece = new RegExp(PIECE)
  for (let at = 0; piece.test(text); at = piece.lastIndex) yield text.slice(at, piece.lastIndex)
}

/** As much of a text as is so many tokens at most. No more of it is read. */
export function firstTokens(text: string, max: number): CountedText {
  const piece = new RegExp(PIECE)
  let [tokens, end] = [0, 0]
  while (tokens < max && piece.test(text)) {
    tokens += 1
    end = piece.lastIndex
  }
  return { text: text.slice(0, end), tokens }
}

/** A text of so many characters has more than so many tokens, whatever it says. */
export const charsBeyond = (tokens: number): number => (tokens + 1) * TOKEN_CHARS_MAX

/** Longer texts are counted by their beginning: nobody waits for more (1,000,000 characters take 40 ms). */
const COUNTED_CHARS_MAX = 1_000_000

export function countTokens(text: string): number {
  if (text.length <= COUNTED_CHARS_MAX) return tokenize(text).length
  return Math.ceil((tokenize(text.slice(0, COUNTED_CHARS_MAX)).length * text.length) / COUNTED_CHARS_MAX)
}
