import { flatten, isDeep, type Scope } from './flatten.ts'
import { takeTurn, type Hints } from './hints.ts'
import { exampleNumber } from './number.ts'
import type { AnySchema, Schema } from './schema.ts'
import { exampleText } from './text.ts'

type Place = Scope & { name: string; hints: Hints }

/** Schemas looked at for one value; beyond that, everything is a word. */
const NODES_MAX = 20_000
/** Without a `minItems`, an array gets as many. */
const ITEMS_DEFAULT = 2
/** However many a schema demands: beyond that the answer is invalid, and short. */
const ITEMS_MAX = 10_000

/**
 * A value that is valid for a JSON Schema, drawn from a message where its names suggest so.
 *
 * Understood: `type`, `enum`, `const`, `$ref` within the schema (recursive ones too), `allOf`, `anyOf`, `oneOf`,
 * objects, arrays and tuples, bounds, lengths, `multipleOf`, `uniqueItems`, formats, and patterns as far as pattern.ts
 * goes. Not: `not`, `if`, `contains`, `dependent…`, `patternProperties`, `unevaluated…`.
 */
export function exampleOf(schema: Schema, hints: Hints): unknown {
  return valueOf(schema, { root: schema, depth: 0, budget: { nodesLeft: NODES_MAX }, name: '', hints })
}

function valueOf(given: AnySchema, place: Place): unknown {
  const { schema, depth } = flatten(given, place)
  if (Object.hasOwn(schema, 'const')) return schema.const
  if (schema.enum !== undefined) return chosenFrom(schema.enum, place.hints)
  const inner = { ...place, depth }
  const kind = kindOf(schema)
  switch (kind) {
    case 'object':
      return objectOf(schema, inner)
    case 'array':
      return arrayOf(schema, inner)
    case 'integer':
    case 'number':
      return exampleNumber(schema, { kind, hints: place.hints })
    case 'boolean':
      return place.hints.turn % 2 === 0
    case 'null':
      return null
    default:
      return exampleText(schema, place.name, place.hints)
  }
}

/** The type that is named, or the one the other keywords are about. */
function kindOf(schema: Schema): string {
  const { type } = schema
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null'
  if (type !== undefined) return type
  if (schema.properties ?? schema.additionalProperties ?? schema.required) return 'object'
  if (schema.items ?? schema.prefixItems ?? schema.minItems) return 'array'
  const isBounded = schema.minimum ?? schema.maximum ?? schema.exclusiveMinimum ?? schema.multipleOf
  return isBounded === undefined ? 'string' : 'number'
}

/** What the message mentions, if it mentions any; else one after the other, from a place the message decides. */
function chosenFrom(values: readonly unknown[], hints: Hints): unknown {
  const said = wordsOnly(hints.text)
  const mentioned = values.filter((value) => typeof value === 'string' && said.includes(wordsOnly(value)))
  return takeTurn(hints.turn < mentioned.length ? mentioned : values, hints.turn)
}

/** ` like this `, so that one text is found in another only as whole words. */
function wordsOnly(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}

function objectOf(schema: Schema, place: Place): Record<string, unknown> {
  const { properties = {}, additionalProperties = true } = schema
  const entries = keysOf(schema, place).map((name) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, valueOf(own ?? additionalProperties, { ...place, name })]
  })
  return Object.fromEntries(entries)
}

/** All properties, or deep inside a recursion the required ones; a map of free keys gets one. */
function keysOf(schema: Schema, place: Place): string[] {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema
  const declared = Object.keys(properties).filter((name) => required.includes(name) || !isDeep(place.depth))
  const keys = new Set([...declared, ...required])
  const isMap = keys.size === 0 && typeof additionalProperties === 'object' && !isDeep(place.depth)
  const least = Math.min(schema.minProperties ?? (isMap ? 1 : 0), ITEMS_MAX)
  for (let turn = 0; keys.size < least && turn < 2 * ITEMS_MAX; turn += 1) {
    const hints = { ...place.hints, turn }
    keys.add(propertyNames === undefined ? `key_${turn + 1}` : String(valueOf(propertyNames, { ...place, hints })))
  }
  return [...keys]
}

function arrayOf(schema: Schema, place: Place): unknown[] {
  const { items = true, prefixItems = [], minItems, maxItems = Infinity, uniqueItems = false } = schema
  const tuple = Array.isArray(items) ? items : prefixItems
  const rest = Array.isArray(items) ? true : items
  const natural = tuple.length > 0 || isDeep(place.depth) ? tuple.length : ITEMS_DEFAULT
  const length = Math.min(Math.max(minItems ?? natural, tuple.length), maxItems, ITEMS_MAX)
  const values: unknown[] = []
  const seen = new Set<string>()
  for (let turn = 0; values.length < length && turn < 2 * ITEMS_MAX; turn += 1) {
    const hints = { ...place.hints, turn: place.hints.turn + turn }
    const value = valueOf(tuple[values.length] ?? rest, { ...place, hints })
    if (uniqueItems && seen.has(JSON.stringify(value))) continue
    seen.add(JSON.stringify(value))
    values.push(value)
  }
  return values
}
