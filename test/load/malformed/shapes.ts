/** Bodies in which one or two values have another shape, or with an unknown field. */
import fc from 'fast-check'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Place = readonly (string | number)[]

const deep = (levels: number, open: (inner: Json) => Json): Json =>
  Array.from({ length: levels }).reduce<Json>((inner) => open(inner), 1)

/** Names that every object of JavaScript has, or that its machinery asks for. */
const NAMES = ['toString', 'valueOf', 'toJSON', 'then', 'length', 'constructor', 'hasOwnProperty', 'prototype', 'type']

/** What no reader may take for a text, a number, a list or a map, and what each of those may be at its worst. */
const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  'x',
  '\0',
  '\ud800',
  '\u{10ffff}',
  ...NAMES.map((name) => ({ [name]: 1 })),
  ...NAMES,
  '__proto__',
  { toString: 1, valueOf: 1 },
  { toString: { toString: null }, valueOf: [] },
  { length: 1e9, 0: 'x' },
  { length: { toString: 1, valueOf: 1 } },
  { size: { toString: 1, valueOf: 1 } },
  { type: { toString: 1 } },
  { type: 'object', properties: 'x' },
  { type: 'text', text: { toString: 1, valueOf: 1 } },
  { constructor: { prototype: { polluted: true } } },
  {},
  { '': '' },
  [],
  [null],
  [[]],
  [0],
  [{}],
  [{ toString: 1, valueOf: 1 }],
  ['x', 1, null],
  'data:,',
  'data:image/png;base64,!',
  'http://[',
  'sse'.repeat(2_000),
  deep(30, (inner) => [inner]),
  deep(30, (inner) => ({ type: inner })),
  deep(30, (inner) => ({ properties: { a: inner } })),
]

/** Where the values of a body are: all of them, objects and lists too. */
function placesOf(value: Json, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inner = Array.isArray(value) ? value.entries() : Object.entries(value)
  return [at, ...[...inner].flatMap(([step, one]) => placesOf(one, [...at, step]))]
}

function valueAt(body: Json, at: Place): Json | undefined {
  return at.reduce<Json | undefined>(
    (value, step) => (value as Record<string | number, Json> | null | undefined)?.[step],
    body,
  )
}

/** A copy in which another value is at a place. A place that is no longer there leaves it as it is. */
function withValue(body: Json, [step, ...rest]: Place, value: Json): Json {
  if (step === undefined) return value
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, step)) return body
  const changed = withValue((body as Record<string | number, Json>)[step] as Json, rest, value)
  return Array.isArray(body) ? body.with(Number(step), changed) : { ...body, [step]: changed }
}

/** A copy in which the object or list at a place has one thing more. */
function withMore(body: Json, at: Place, name: string, value: Json): Json {
  const there = valueAt(body, at)
  if (typeof there !== 'object' || there === null) return withValue(body, at, value)
  return withValue(body, at, Array.isArray(there) ? [...there, value] : { ...there, [name]: value })
}

/** Bodies changed in one place or two. */
export function shapesOf(body: Json): fc.Arbitrary<Json> {
  const place = fc.constantFrom(...placesOf(body))
  const value = fc.oneof({ arbitrary: fc.constantFrom(...VALUES), weight: 4 }, fc.jsonValue({ maxDepth: 3 }))
  const change = fc.tuple(place, value as fc.Arbitrary<Json>, fc.constantFrom(...NAMES), fc.nat(3)).map(
    ([at, by, name, kind]) =>
      (given: Json) =>
        kind === 0 ? withMore(given, at, name, by) : withValue(given, at, by),
  )
  return fc
    .array(change, { minLength: 1, maxLength: 2 })
    .map((changes) => changes.reduce((given, make) => make(given), body))
}
