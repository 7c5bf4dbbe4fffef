/**
 * JSON whose numbers keep their source text. `JSON.parse` reads `1.0`, `1e3` and digits beyond 2^53 as numbers that
 * `JSON.stringify` writes differently, and the last ones even as other numbers. Here such a number becomes
 * `JSON.rawJSON` of its source, which `JSON.stringify` writes unchanged. All others are plain numbers.
 */

import { parsePlain, revivePlain } from './plain-json.ts'
import { KIB } from '../primitives/units.ts'

/** https://tc39.es/proposal-json-parse-with-source/, which TypeScript does not know yet (2026-11). */
type SourceText = {
  rawJSON(source: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
  parse(text: string, revive: (name: string, value: unknown, context: { source?: string }) => unknown): unknown
}
type RawNumber = { readonly rawJSON: string }

const exact = JSON as unknown as SourceText

/** Numbers that may be written differently: many digits, an exponent, a fraction that ends in zero, a minus zero. */
const INEXACT = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|[\d.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})|-0(?![.\d])/

/** A value costs 150 to 450 ns. A longer text may consist of values alone, and take the thread for 100 ms. */
const SURE_CHARS = 512 * KIB
/** 5 MB of prose have about this number of commas. A text with more is read by `JSON.parse`. */
const COMMAS_MAX = 150_000

function hasManyValues(text: string): boolean {
  if (text.length <= SURE_CHARS) return false
  let commas = 0
  for (let at = text.indexOf(','); at !== -1; at = text.indexOf(',', at + 1)) if (++commas > COMMAS_MAX) return true
  return false
}

/** Whether `parseExact` may read a number in this text as its source. */
export const mayBeInexact = (text: string): boolean => INEXACT.test(text) && !hasManyValues(text)

/** Reads JSON text, without members called `__proto__`. Throws a `SyntaxError` for invalid JSON. */
export function parseExact(text: string): unknown {
  if (!mayBeInexact(text)) return parsePlain(text)
  return exact.parse(text, (name, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? exact.rawJSON(source)
      : revivePlain(name, value),
  )
}

/** Whether a value is a number that `parseExact` read as its source. */
export const isRawNumber = (value: unknown): value is RawNumber => exact.isRawJSON(value)
