import type { Budget } from '../budget.ts'
import { hashOf } from '../random.ts'
import { SHORT_WORDS } from '../words.ts'
import type { Hints } from './hints.ts'
import { readPattern, type Pattern } from './pattern.ts'
import type { Schema } from './schema.ts'

/** The attempts at a pattern before a text of the wrong length is used. */
const MATCH_ATTEMPTS = 20
const MESSAGE_CHARS_MAX = 200
/** If a schema demands more, the text is too short to be valid. */
const LENGTH_MAX = 100_000
const PADDING = ` ${SHORT_WORDS.join(' ')}`

/** `name` is the name of the property, and decides what to take from the message. `charsMax` bounds the text. */
export type TextPlace = { name: string; hints: Hints; budget: Budget; charsMax: number }

/** A text for a string schema. It is cut if there is no more room. */
export function exampleText(schema: Schema, { name, hints, budget, charsMax }: TextPlace): string {
  const { format, pattern: written } = schema
  const lengthMax = Math.min(LENGTH_MAX, charsMax)
  const formatted = format === undefined ? undefined : byFormat(format, hints)
  const natural = fitLength(formatted ?? byName(name, hints), schema, lengthMax)
  if (written === undefined || formatted !== undefined) return natural
  const pattern = patternOf(written, hints, budget)
  if (pattern.matches(natural)) return natural
  let text = natural
  for (let attempt = 0; attempt < MATCH_ATTEMPTS && !budget.isSpent; attempt += 1) {
    text = pattern.example({ random: hints.random, budget, charsMax: lengthMax })
    if (fitLength(text, schema, lengthMax) === text) return text
  }
  return text
}

/** Reads each pattern once, for any number of texts. */
function patternOf(written: string, { known: { patterns } }: Hints, budget: Budget): Pattern {
  const known = patterns.get(written)
  if (known) return known
  const pattern = readPattern(written, budget)
  patterns.set(written, pattern)
  return pattern
}

function byFormat(format: string, { email, day, link, random, turn }: Hints): string | undefined {
  const date = day ?? `2026-03-${String(1 + ((14 + turn) % 28)).padStart(2, '0')}`
  switch (format) {
    case 'date':
      return date
    case 'date-time':
      return `${date}T09:30:00Z`
    case 'time':
      return '09:30:00Z'
    case 'duration':
      return 'PT1H30M'
    case 'email':
    case 'idn-email':
      return email ?? `ada.${SHORT_WORDS[turn] ?? 'river'}@example.com`
    case 'uuid':
      return uuidFrom(() => random.below(16).toString(16))
    case 'uri':
    case 'url':
    case 'iri':
      return link ?? `https://example.com/${SHORT_WORDS[turn] ?? 'river'}`
    case 'uri-reference':
      return '/river'
    case 'hostname':
      return 'example.com'
    case 'ipv4':
      return `192.0.2.${1 + (turn % 254)}`
    case 'ipv6':
      return '2001:db8::1'
    default:
      return undefined
  }
}

/** A UUID of version 4, because validators check its two fixed digits. */
function uuidFrom(digit: () => string): string {
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', digit)
}

const WANTS_MESSAGE = /query|question|search|prompt|text|message|input|expression|content|description|summary/
const WANTS_NAME = /city|location|place|town|country|region|destination|origin|name|person|author|title|\bfrom\b|\bto\b/

function byName(name: string, hints: Hints): string {
  const stem = name.toLowerCase()
  if (WANTS_MESSAGE.test(stem) && hints.text !== '') return hints.text.slice(0, MESSAGE_CHARS_MAX)
  if (stem.includes('mail')) return byFormat('email', hints) ?? ''
  if (stem.includes('date')) return byFormat('date', hints) ?? ''
  if (/ur[il]$/.test(stem)) return byFormat('uri', hints) ?? ''
  const { names, words, turn } = hints
  if (WANTS_NAME.test(stem) && turn < names.length) return names[turn] ?? ''
  // Each turn has its own word, so that the items of an array differ. The name decides the first word.
  const word = turn < words.length ? words[(hashOf(name) + turn) % words.length] : SHORT_WORDS[turn]
  return word ?? `word ${turn}`
}

/** JSON Schema counts length in code points. */
function fitLength(text: string, { minLength = 0, maxLength = LENGTH_MAX }: Schema, lengthMax: number): string {
  const surrogates = text.length - Array.from(text).length
  const long = text.padEnd(Math.min(minLength, lengthMax) + surrogates, PADDING)
  return long.length - surrogates > maxLength ? Array.from(long).slice(0, maxLength).join('') : long
}
