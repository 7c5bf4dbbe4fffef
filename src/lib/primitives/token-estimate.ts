/** About how many tokens a text is, without a vocabulary: enough to tell whether it can fit somewhere. */

/** A longer text is judged by samples from all over it. */
const SAMPLES = 16
const SAMPLE_CHARS = 1_024

/** Where tokenizers cut: words with the blank before them, numbers by three digits, signs, ideographs one by one. */
const PIECES =
  / ?[A-Za-z]+|\p{N}{1,3}|[\u2e80-\u9fff\uf900-\ufaff]|[\u3040-\u30ff\uac00-\ud7af]|[^\S\r\n]+|[\r\n]+|[\p{L}\p{M}]+| ?[^\s\p{L}\p{N}]{1,5}[\r\n]*/gu

/** Latin letters a token has, beyond the first of a word; other scripts have shorter ones. */
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
    // A single blank is part of the word behind it.
    else if (piece !== ' ') tokens++
  }
  return tokens
}
