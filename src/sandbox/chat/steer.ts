import { randomFrom } from '../random.ts'
import { SHORT_WORDS } from '../words.ts'
import { openingOf } from './conversation.ts'

/** More than any context holds; what is too long is cut by the token limits. */
const COUNT_MAX = 200_000
const CHARS_MAX = 1_000_000

/**
 * The text a message demands word for word, so that tests can ask for answers of exact content and size:
 * `Say exactly: …` · `Write 500 tokens` · `Repeat 20 words` · `Repeat "ping" 3 times`.
 */
export function steeredText(message: string, seed: number): string | undefined {
  const exact = /\bsay exactly:\s*([^]+)$/i.exec(message)?.[1]
  if (exact !== undefined) return exact.trimEnd()
  const opening = openingOf(message)
  const times = /\brepeat\s+["“']?(.+?)["”']?\s+(\d{1,6})\s+times\b/i.exec(opening)
  if (times) return repeated(times[1] ?? '', count(times[2]))
  const amount = /\b(?:write|repeat|generate|count)\b(?:\s+\w+){0,3}?\s+(\d{1,6})\s+(token|word)s?\b/i.exec(opening)
  if (!amount) return undefined
  return amount[2]?.toLowerCase() === 'word' ? shortWords(count(amount[1]), seed) : prose(count(amount[1]), seed)
}

function count(digits: string | undefined): number {
  return Math.min(Number(digits), COUNT_MAX)
}

function repeated(text: string, times: number): string {
  const most = Math.floor(CHARS_MAX / (text.length + 1))
  return Array.from({ length: Math.min(times, most) }, () => text).join(' ')
}

function shortWords(words: number, seed: number): string {
  const random = randomFrom(seed)
  return Array.from({ length: words }, () => random.pick(SHORT_WORDS)).join(' ')
}

/** Sentences of exactly so many tokens: each word is one, each full stop is one. */
function prose(tokens: number, seed: number): string {
  const random = randomFrom(seed)
  let text = ''
  let wordsInSentence = 0
  for (let token = 1; token <= tokens; token += 1) {
    const isEnd = wordsInSentence >= 8 || (token === tokens && wordsInSentence > 0)
    const word = random.pick(SHORT_WORDS)
    if (isEnd) text += '.'
    else
      text += wordsInSentence === 0 ? `${text === '' ? '' : ' '}${word[0]?.toUpperCase()}${word.slice(1)}` : ` ${word}`
    wordsInSentence = isEnd ? 0 : wordsInSentence + 1
  }
  return text
}
