import { randomFrom, type Random } from '../random.ts'
import { namesIn, tellingWords } from '../words.ts'

/** What a message offers to fill a schema with, so that arguments look as if the model had read it. */
export type Hints = {
  text: string
  names: readonly string[]
  words: readonly string[]
  numbers: readonly number[]
  random: Random
  /** Which of several: the second call of a tool, the third element of an array, gets the second, the third name. */
  turn: number
}

/** What stands further back in a message is not looked at: the searches are not all linear. */
const TEXT_CHARS_MAX = 2_000

export function hintsFrom(message: string, seed: number): Hints {
  const text = message.slice(0, TEXT_CHARS_MAX)
  return {
    text,
    names: [...new Set(namesIn(text))],
    words: [...new Set(tellingWords(text))],
    numbers: (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number),
    random: randomFrom(seed),
    turn: 0,
  }
}

export function takeTurn<T>(items: readonly T[], turn: number): T | undefined {
  return items[turn % items.length]
}
