/** Reading JSON that somebody else wrote: what is not as expected reads as absent. */
import { scanJson, unbounded, type ScanLimits } from '../lib/json-scan.ts'

export type Fields = Readonly<Record<string, unknown>>

export const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/**
 * Of one answer or event. A broken one is deep; an honest one may be wide: the probabilities of 20 tokens for each of
 * 30,000 are four million nodes.
 */
const answerLimits: ScanLimits = { depthMax: 128, nodesMax: 10_000_000, commasMax: 20_000_000, ...unbounded }
/** What is no longer does no harm: it is read before it could be looked through. */
const SHORT_CHARS_MAX = 32 * 1024

/** JSON that an upstream wrote. Throws for what is none, and for what is out of all proportion. */
export function parseAnswer(text: string): unknown {
  const { kind } = text.length > SHORT_CHARS_MAX ? scanJson(text, answerLimits) : SHORT
  if (kind === 'too_deep' || kind === 'too_many_nodes') throw new SyntaxError(kind)
  return JSON.parse(text)
}
const SHORT = { kind: 'short' } as const

/** The JSON object in a text; undefined when it is none. `parse` throws where it is no JSON. */
export function parseFields(text: string, parse: (text: string) => unknown = parseAnswer): Fields | undefined {
  try {
    const value = parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined // Whoever asked says what that means.
  }
}

/** A word that may be kept and logged: what is none could be anything, a prompt among it. */
export const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : undefined
