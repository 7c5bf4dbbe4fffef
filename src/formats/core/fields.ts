/** Reads JSON from outside. A value of an unexpected type reads as absent. */
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

/** A list of objects only. Undefined for anything else. */
export const fieldListIn = (value: unknown): readonly Fields[] | undefined =>
  Array.isArray(value) && value.every((one) => fieldsIn(one) !== undefined) ? (value as readonly Fields[]) : undefined

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : isRawNumber(value) ? Number(value.rawJSON) : undefined

/** The value under a name from outside. Inherited members such as `constructor` do not count. */
export const ownIn = <T>(fields: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/**
 * A value for an error message that expected a word. Values other than text are shown as their kind, because a text
 * could be mistaken for a valid word.
 */
export const wordFor = (value: unknown): string =>
  typeof value === 'string'
    ? value.slice(0, 100)
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'array'
        : typeof value

/** A shorter text is harmless: parsing takes no longer than scanning. */
const SHORT_CHARS_MAX = 32 * KIB

/** `large`: the text looks like JSON but is too large to parse on the serving thread. */
export function weigh(text: string): 'light' | 'large' | 'broken' {
  if (text.length <= SHORT_CHARS_MAX) return 'light'
  const { kind } = scanJson(text, answerLimits)
  if (kind === 'scanned' || kind === 'repeated_key') return 'light'
  return kind === 'too_many_nodes' || kind === 'too_dense' ? 'large' : 'broken'
}

/** Parses JSON from an upstream. Throws for text that is not JSON or that is too large. */
export function parseAnswer(text: string, parse: (text: string) => unknown = parsePlain): unknown {
  const weight = weigh(text)
  if (weight !== 'light') throw new SyntaxError(weight)
  return parse(text)
}

/** The JSON object in a text. Undefined for any other value and for text that is not JSON, where `parse` throws. */
export function parseFields(text: string, parse: (text: string) => unknown = parseAnswer): Fields | undefined {
  try {
    const value = parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined // The caller decides what that means.
  }
}

/** The same, but numbers are written again exactly as they came. A tool's arguments belong to its caller. */
export const parseExactFields = (text: string): Fields | undefined =>
  parseFields(text, (json) => parseAnswer(json, parseExact))

/** `parseFields` for a text that may be very long. It is parsed in the tick after the one that scanned it. */
export async function parseLongFields(text: string): Promise<Fields | undefined> {
  return weigh(text) === 'light' ? inOwnTurn(text, () => parseFields(text, parsePlain)) : undefined
}

/** A code that may be stored and logged. Any other text could be anything, even a prompt. */
export const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : undefined
