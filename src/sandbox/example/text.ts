import { hashOf } from '../random.ts'
import { SHORT_WORDS } from '../words.ts'
import type { Hints } from './hints.ts'
import { exampleMatch } from './pattern.ts'
import type { Schema } from './schema.ts'

/** Attempts at a pattern before a text of the wrong length is given instead. */
const MATCH_ATTEMPTS = 20
const MESSAGE_CHARS_MAX = 200
/** A schema may demand more; the text is then too short to be valid. */
const LENGTH_MAX = 100_000
const EMAIL = /[A-Za-z0-9][\w+-]*(?:\.[\w+-]+)*@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z]{2,})+/
const PADDING = ` ${SHORT_WORDS.join(' ')}`

/** A text for a string schema. `name` is the property's, and says what to take from the message. */
export function exampleText(schema: Schema, name: string, hints: Hints): string {
  const { format, pattern } = schema
  const formatted = format === undefined ? undefined : byFormat(format, hints)
  const natural = fitLength(formatted ?? byName(name, hints), schema)
  if (pattern === undefined || formatted !== undefined || isKnownToMatch(pattern, natural)) return natural
  let text = natural
  for (let attempt = 0; attempt < MATCH_ATTEMPTS; attempt += 1) {
    text = exampleMatch(pattern, hints.random)
    if (fitLength(text, schema) === text) return text
  }
  return text
}

/**
 * Clients write the patterns, and one that backtracks could stop the process: only those with a single quantifier and
 * no group are run. Texts made from a pattern need no test.
 */
function isKnownToMatch(pattern: string, text: string): boolean {
  if ((pattern.match(/[*+?{(]/g) ?? []).length > 1) return false
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    // Another dialect's pattern: nothing is known.
    return false
  }
}

function byFormat(format: string, { text, random, turn }: Hints): string | undefined {
  const day = dayIn(text) ?? `2026-03-${String(1 + ((14 + turn) % 28)).padStart(2, '0')}`
  switch (format) {
    case 'date':
      return day
    case 'date-time':
      return `${day}T09:30:00Z`
    case 'time':
      return '09:30:00Z'
    case 'duration':
      return 'PT1H30M'
    case 'email':
    case 'idn-email':
      return EMAIL.exec(text)?.[0] ?? `ada.${SHORT_WORDS[turn] ?? 'river'}@example.com`
    case 'uuid':
      return uuidFrom(() => random.below(16).toString(16))
    case 'uri':
    case 'url':
    case 'iri':
      return linkIn(text) ?? `https://example.com/${SHORT_WORDS[turn] ?? 'river'}`
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

function dayIn(text: string): string | undefined {
  const found = /\b\d{4}-\d{2}-\d{2}\b/.exec(text)?.[0]
  if (found === undefined) return undefined
  // The round trip tells 2026-02-30, which would otherwise become 2 March.
  const timeMs = Date.parse(`${found}T00:00:00Z`)
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(found) ? found : undefined
}

function linkIn(text: string): string | undefined {
  const found = /https?:\/\/[^\s"'<>)]+/.exec(text)?.[0].replace(/[.,;:!?]+$/, '')
  return found !== undefined && URL.canParse(found) ? found : undefined
}

/** Version 4, as validators check the two fixed digits. */
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
  // Each turn has a word of its own, so that the items of an array differ; where to start, the name decides.
  const word = turn < words.length ? words[(hashOf(name) + turn) % words.length] : SHORT_WORDS[turn]
  return word ?? `word ${turn}`
}

/** Length in JSON Schema is counted in code points. */
function fitLength(text: string, { minLength = 0, maxLength = LENGTH_MAX }: Schema): string {
  const surrogates = text.length - Array.from(text).length
  const long = text.padEnd(Math.min(minLength, LENGTH_MAX) + surrogates, PADDING)
  return long.length - surrogates > maxLength ? Array.from(long).slice(0, maxLength).join('') : long
}
