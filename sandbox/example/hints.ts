import { randomFrom, type Random } from '../random.ts'
import { namesIn, tellingWords } from '../words.ts'
import type { Pattern } from './pattern.ts'
import { namedValuesIn, type NamedValues } from './named-values.ts'

/** Values from a message that fill a schema, so that arguments look as if the model had read the message. */
export type Hints = {
  text: string
  /** The text as ` words alone `, so that a search finds only whole words. */
  said: string
  /** Values that the text gives by name. */
  told: NamedValues
  names: readonly string[]
  words: readonly string[]
  numbers: readonly number[]
  email: string | undefined
  day: string | undefined
  link: string | undefined
  random: Random
  /** The index among several: the second call of a tool or the third item of an array gets the second or third name. */
  turn: number
  /** Results that are kept for all values, because schemas repeat themselves. */
  known: KnownHints
}

type KnownHints = {
  /** For each enum: its values that the text mentions. */
  readonly mentioned: Map<readonly unknown[], readonly unknown[]>
  readonly patterns: Map<string, Pattern>
}

/** The searched part of a message. It is bounded, because not all searches are linear. */
const TEXT_CHARS_MAX = 2_000

export function hintsFrom(message: string, seed: number): Hints {
  const text = message.slice(0, TEXT_CHARS_MAX)
  return {
    text,
    said: wordsOnly(text),
    told: namedValuesIn(message),
    names: [...new Set(namesIn(text))],
    words: [...new Set(tellingWords(text))],
    numbers: (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number),
    email: EMAIL.exec(text)?.[0],
    day: dayIn(text),
    link: linkIn(text),
    random: randomFrom(seed),
    turn: 0,
    known: { mentioned: new Map(), patterns: new Map() },
  }
}

export function takeTurn<T>(items: readonly T[], turn: number): T | undefined {
  return items[turn % items.length]
}

/** ` like this ` */
export function wordsOnly(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}

/** Its parts are bounded. Otherwise each letter without a following @ would start a search to the end. */
const EMAIL = /[A-Za-z0-9][\w+-]{0,63}(?:\.[\w+-]{1,63}){0,3}@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z]{2,})+/

function dayIn(text: string): string | undefined {
  const found = /\b\d{4}-\d{2}-\d{2}\b/.exec(text)?.[0]
  if (found === undefined) return undefined
  // The round trip rejects 2026-02-30, which would otherwise become 2 March.
  const timeMs = Date.parse(`${found}T00:00:00Z`)
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(found) ? found : undefined
}

function linkIn(text: string): string | undefined {
  const found = /https?:\/\/[^\s"'<>)]+/.exec(text)?.[0].replace(/[.,;:!?]+$/, '')
  return found !== undefined && URL.canParse(found) ? found : undefined
}
