/** Reading JSON that somebody else wrote: what is not as expected reads as absent. */
import { isRawNumber, parseExact } from '../../lib/json/exact-json.ts'
import { answerLimits, scanJson } from '../../lib/json/json-scan.ts'
import { inOwnTurn } from '../../lib/primitives/long-text.ts'
import { parsePlain } from '../../lib/json/plain-json.ts'
import { KIB } from '../../lib/primitives/units.ts'

export type Fields = Readonly<Record<string, unknown>>

export const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

export const fieldsIn = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

/** A list of nothing but objects; undefined for what is none. */
export const fieldListIn = (value: unknown): readonly Fields[] | undefined =>
  Array.isArray(value) && value.every((one) => fieldsIn(one) !== undefined) ? (value as readonly Fields[]) : undefined

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : isRawNumber(value) ? Number(value.rawJSON) : undefined

/** What an object or a table holds under a name that somebody else chose: never what all have, `constructor` say. */
export const ownIn = <T>(fields: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** What somebody wrote where a word belongs, for a message that says so. Of no text its kind: it may not become one. */
export const wordFor = (value: unknown): string =>
  typeof value === 'string'
    ? value.slice(0, 100)
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'array'
        : typeof value

/** What is no longer does no harm: it is read before it could be looked through. */
const SHORT_CHARS_MAX = 32 * KIB

/** `large`: as far as one can see it is JSON, and too much of it to be read on the serving thread. */
export function weigh(text: string): 'light' | 'large' | 'broken' {
  if (text.length <= SHORT_CHARS_MAX) return 'light'
  const { kind } = scanJson(text, answerLimits)
  if (kind === 'scanned' || kind === 'repeated_key') return 'light'
  return kind === 'too_many_nodes' || kind === 'too_dense' ? 'large' : 'broken'
}

/** JSON that an upstream wrote. Throws for what is none, and for what is out of all proportion. */
export function parseAnswer(text: string, parse: (text: string) => unknown = parsePlain): unknown {
  const weight = weigh(text)
  if (weight !== 'light') throw new SyntaxError(weight)
  return parse(text)
}

/** The JSON object in a text; undefined when it is none. `parse` throws where it is no JSON. */
export function parseFields(text: string, parse: (text: string) => unknown = parseAnswer): Fields | undefined {
  try {
    const value = parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined // Whoever asked says what that means.
  }
}

/** The same with numbers that are written again as they stood: those of a tool's arguments are its caller's affair. */
export const parseExactFields = (text: string): Fields | undefined =>
  parseFields(text, (json) => parseAnswer(json, parseExact))

/** `parseFields` for a text that may be very long: it is read in the turn after the one that looked through it. */
export async function parseLongFields(text: string): Promise<Fields | undefined> {
  return weigh(text) === 'light' ? inOwnTurn(text, () => parseFields(text, parsePlain)) : undefined
}

/** A word that may be kept and logged: what is none could be anything, a prompt among it. */
export const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : undefined
