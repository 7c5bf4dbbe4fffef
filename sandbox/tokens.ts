/**
 * The sandbox's own tokenizer. It is deterministic, and the joined tokens are the text. One token is a run of up to 5
 * letters, a run of up to 3 digits or a single other character, each with the space before it. Other white space counts
 * one token per character. English has about 4 characters per token.
 *
 * Every token is matched greedily without look-ahead. So cutting a text at a token boundary never changes the count of
 * the rest, and `max_tokens` can be kept exactly.
 */
const PIECE = / ?\p{L}{1,5}| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]|\s/gu

/** A space, and five letters of two code units each. */
const TOKEN_CHARS_MAX = 11

/** A text and the number of its tokens. */
export type CountedText = { text: string; tokens: number }

export const NO_WORDS: CountedText = { text: '', tokens: 0 }

export function tokenize(text: string): string[] {
  return text.match(PIECE) ?? []
}

/** The tokens one by one, without a list. */
export function* tokensOf(text: string): Generator<string> {
  const piece = new RegExp(PIECE)
  for (let at = 0; piece.test(text); at = piece.lastIndex) yield text.slice(at, piece.lastIndex)
}

/** The beginning of a text with at most `max` tokens. The rest is not read. */
export function firstTokens(text: string, max: number): CountedText {
  const piece = new RegExp(PIECE)
  let [tokens, end] = [0, 0]
  while (tokens < max && piece.test(text)) {
    tokens += 1
    end = piece.lastIndex
  }
  return { text: text.slice(0, end), tokens }
}

/** Any text with this number of characters has more than `tokens` tokens. */
export const charsBeyond = (tokens: number): number => (tokens + 1) * TOKEN_CHARS_MAX

/** Only the beginning of a longer text is counted, to bound the time (1,000,000 characters take 40 ms). */
const COUNTED_CHARS_MAX = 1_000_000

export function countTokens(text: string): number {
  if (text.length <= COUNTED_CHARS_MAX) return tokenize(text).length
  return Math.ceil((tokenize(text.slice(0, COUNTED_CHARS_MAX)).length * text.length) / COUNTED_CHARS_MAX)
}
