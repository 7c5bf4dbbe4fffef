import { randomFrom } from '../random.ts'
import { SHORT_WORDS } from '../words.ts'
import { openingOf } from './conversation.ts'

/** More than any context has. */
const COUNT_MAX = 200_000

/** An answer of exact content and size. */
export type Wish =
  | { kind: 'exactly'; text: string }
  | { kind: 'times'; text: string; count: number }
  | { kind: 'words' | 'tokens'; count: number }

/**
 * The exact text that a message demands, for tests:
 * `Say exactly: …` · `Write 500 tokens` · `Repeat 20 words` · `Repeat "ping" 3 times`.
 */
export function orderIn(message: string): Wish | undefined {
  const exact = /\bsay exactly:\s*([^]+)$/i.exec(message)?.[1]
  if (exact !== undefined) return { kind: 'exactly', text: exact.trimEnd() }
  // On a run of blanks, the search would try every split.
  const opening = openingOf(message).replace(/\s+/g, ' ')
  const times = /\brepeat ["“']?(.+?)["”']? (\d{1,6}) times\b/i.exec(opening)
  if (times) return { kind: 'times', text: times[1] ?? '', count: count(times[2]) }
  const amount = /\b(?:write|repeat|generate|count)\b(?: \w+){0,3}? (\d{1,6}) (token|word)s?\b/i.exec(opening)
  return amount
    ? { kind: amount[2]?.toLowerCase() === 'word' ? 'words' : 'tokens', count: count(amount[1]) }
    : undefined
}

/** The demanded text. A text longer than `charsMax` is cut soon after that length. */
export function wishedText(wish: Wish, { seed, charsMax }: { seed: number; charsMax: number }): string {
  switch (wish.kind) {
    case 'exactly':
      return wish.text
    case 'times':
      return repeated(wish.text, wish.count, charsMax)
    case 'words':
      return begun(shortWords(wish.count, seed), charsMax)
    case 'tokens':
      return begun(prose(wish.count, seed), charsMax)
  }
}

function count(digits: string | undefined): number {
  return Math.min(Number(digits), COUNT_MAX)
}

/** The pieces that fit, and one more, so that the cut is visible. */
function begun(pieces: Iterable<string>, charsMax: number): string {
  const parts: string[] = []
  let chars = 0
  for (const piece of pieces) {
    parts.push(piece)
    chars += piece.length
    if (chars > charsMax) break
  }
  return parts.join('')
}

function repeated(text: string, times: number, charsMax: number): string {
  const most = Math.ceil((charsMax + 1) / (text.length + 1))
  return Array.from({ length: Math.min(times, most) }, () => text).join(' ')
}

function* shortWords(words: number, seed: number): Generator<string> {
  const random = randomFrom(seed)
  for (let word = 0; word < words; word += 1) yield (word === 0 ? '' : ' ') + random.pick(SHORT_WORDS)
}

/** Sentences with the given number of tokens. Each word and each full stop is one token. */
function* prose(tokens: number, seed: number): Generator<string> {
  const random = randomFrom(seed)
  let wordsInSentence = 0
  for (let token = 1; token <= tokens; token += 1) {
    const isEnd = wordsInSentence >= 8 || (token === tokens && wordsInSentence > 0)
    const word = random.pick(SHORT_WORDS)
    if (isEnd) yield '.'
    else if (wordsInSentence > 0) yield ` ${word}`
    else yield `${token === 1 ? '' : ' '}${word[0]?.toUpperCase()}${word.slice(1)}`
    wordsInSentence = isEnd ? 0 : wordsInSentence + 1
  }
}
