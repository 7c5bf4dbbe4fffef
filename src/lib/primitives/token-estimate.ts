/** Estimates the tokens of a text without a vocabulary, well enough to tell whether the text can fit. */

/** A longer text is estimated from samples at even distances. */
const SAMPLES = 16
const SAMPLE_CHARS = 1_024

/** The cuts of tokenizers: words with the blank before them, groups of three digits, signs, single ideographs. */
const PIECES =
  / ?[A-Za-z]+|\p{N}{1,3}|[\u2e80-\u9fff\uf900-\ufaff]|[\u3040-\u30ff\uac00-\ud7af]|[^\S\r\n]+|[\r\n]+|[\p{L}\p{M}]+| ?[^\s\p{L}\p{N}]{1,5}[\r\n]*/gu

/** Latin letters per token after the first token of a word. Tokens of other scripts are shorter. */
const LETTERS_PER_TOKEN = 7
const OTHER_LETTERS_PER_TOKEN = 3

export function estimateTokens(text: string): number {
  const { length } = text
  if (length <= SAMPLES * SAMPLE_CHARS) return tokensIn(text)
  const stride = Math.floor(length / SAMPLES)
  let tokens = 0
  for (let i = 0; i < SAMPLES; i++) tokens += tokensIn(text.slice(i * stride, i * stride + SAMPLE_CHARS))
  return Math.ceil((tokens * length) / (SAMPLES * SAMPLE_CHARS))
}

function tokensIn(text: string): number {
  let tokens = 0
  for (const [piece] of text.matchAll(PIECES)) {
    if (/^ ?[A-Za-z]/.test(piece)) tokens += Math.ceil(piece.trimStart().length / LETTERS_PER_TOKEN)
    else if (/^[\p{L}\p{M}]/u.test(piece) && piece.length > 1)
      tokens += Math.ceil(piece.length / OTHER_LETTERS_PER_TOKEN)
    // A single blank belongs to the word after it.
    else if (piece !== ' ') tokens++
  }
  return tokens
}
