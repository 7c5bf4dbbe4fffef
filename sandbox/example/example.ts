import type { Budget } from '../budget.ts'
import { flatten, isDeep, type SchemaScope } from './flatten.ts'
import { takeTurn, wordsOnly, type Hints } from './hints.ts'
import { valueNamedFor } from './named-values.ts'
import { exampleNumber } from './number.ts'
import type { AnySchema, Schema } from './schema.ts'
import { exampleText } from './text.ts'
import { JsonWriter } from './writer.ts'

/** `isWhole`: it is all of the value, not a part of it. */
type Place = SchemaScope & { name: string; hints: Hints; writer: JsonWriter; isWhole?: boolean }

/** Schemas looked at for one value; beyond that, everything is a word. */
const NODES_MAX = 20_000
/** Without a `minItems`, an array gets as many. */
const ITEMS_DEFAULT = 2
/** However many a schema demands: beyond that the answer is invalid, and short. */
const ITEMS_MAX = 10_000
/** As much of a property's name as says what to fill it with. */
const NAME_CHARS_MAX = 100

/**
 * A value that is valid for a JSON Schema, as JSON, drawn from a message where its names suggest so. Where there is no
 * room for all of it, it ends in the middle.
 *
 * Understood: `type`, `enum`, `const`, `$ref` within the schema (recursive ones too), `allOf`, `anyOf`, `oneOf`,
 * objects, arrays and tuples, bounds, lengths, `multipleOf`, `uniqueItems`, formats, and patterns as far as pattern.ts
 * goes. Not: `not`, `if`, `contains`, `dependent…`, `patternProperties`, `unevaluated…`.
 */
export function exampleJson(
  schema: Schema,
  hints: Hints,
  { budget, charsMax }: { budget: Budget; charsMax: number },
): string {
  const writer = new JsonWriter(budget, charsMax)
  writeValue(schema, {
    root: schema,
    depth: 0,
    nodes: { left: NODES_MAX },
    budget,
    name: '',
    hints,
    writer,
    isWhole: true,
  })
  return writer.text
}

function writeValue(given: AnySchema, place: Place): void {
  const { writer, hints, name, budget } = place
  if (writer.isFull) return
  const { schema, depth } = flatten(given, place)
  if (Object.hasOwn(schema, 'const')) return writer.value(schema.const)
  if (schema.enum !== undefined) return writer.value(chosenFrom(schema.enum, place))
  const inner = { ...place, depth }
  const kind = kindOf(schema)
  switch (kind) {
    case 'object':
      return writeObject(schema, inner)
    case 'array':
      return writeArray(schema, inner)
    case 'integer':
    case 'number':
      return writer.value(exampleNumber(schema, { kind, hints }))
    case 'boolean':
      return writer.value(hints.turn % 2 === 0)
    case 'null':
      return writer.value(null)
    default: {
      const text = exampleText(schema, { name, hints, budget, charsMax: writer.charsLeft })
      return writer.value(text)
    }
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
function chosenFrom(values: readonly unknown[], { hints, budget }: Place): unknown {
  const { turn, known } = hints
  let mentioned = known.mentioned.get(values)
  if (!mentioned) {
    mentioned = mentionedOf(values, hints, budget)
    known.mentioned.set(values, mentioned)
  }
  return takeTurn(turn < mentioned.length ? mentioned : values, turn)
}

/** A value that is longer than the text is not in it. */
function mentionedOf(values: readonly unknown[], { said }: Hints, budget: Budget): unknown[] {
  return values.filter((value) => {
    budget.spendSteps(1)
    return typeof value === 'string' && value.length < said.length && !budget.isSpent && said.includes(wordsOnly(value))
  })
}

function writeObject(schema: Schema, place: Place): void {
  const { properties = {}, additionalProperties = true } = schema
  const { writer } = place
  let mark = '{'
  for (const name of keysOf(schema, place)) {
    if (writer.isFull) return
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    writer.write(mark)
    writer.value(name)
    writer.write(':')
    const value = own ?? additionalProperties
    const inner = { ...place, name: name.slice(0, NAME_CHARS_MAX), isWhole: false }
    const told = place.isWhole ? valueNamedFor(name, flatten(value, inner).schema, place.hints) : undefined
    if (told === undefined) writeValue(value, inner)
    else writer.value(told)
    mark = ','
  }
  writer.write(mark === '{' ? '{}' : '}')
}

/** All properties, or deep inside a recursion the required ones; a map of free keys gets one. */
function* keysOf(schema: Schema, place: Place): Generator<string> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema
  const { budget, hints, writer } = place
  const names = Object.keys(properties)
  budget.spendSteps((names.length + required.length) >> 2)
  const needed = new Set(required)
  const declared = isDeep(place.depth) ? names.filter((name) => needed.has(name)) : names
  const keys = new Set([...declared, ...required])
  yield* keys
  const { object = {} } = hints.told
  // What is told where nothing is declared is all that there is.
  if (place.isWhole && keys.size === 0 && additionalProperties !== false) {
    for (const name of Object.keys(object)) {
      keys.add(name)
      yield name
    }
  }
  const isMap = keys.size === 0 && typeof additionalProperties === 'object' && !isDeep(place.depth)
  const least = Math.min(schema.minProperties ?? (isMap ? 1 : 0), ITEMS_MAX)
  for (let turn = 0; keys.size < least && turn < 2 * ITEMS_MAX && !writer.isFull; turn += 1) {
    budget.spendSteps(1)
    const key =
      propertyNames === undefined ? `key_${turn + 1}` : keyFrom(propertyNames, { ...place, hints: { ...hints, turn } })
    if (keys.has(key)) continue
    keys.add(key)
    yield key
  }
}

/** A key that a schema allows; it is written with its value. */
function keyFrom(schema: AnySchema, place: Place): string {
  const writer = new JsonWriter(place.budget, place.writer.charsLeft)
  const mark = writer.mark()
  writeValue(schema, { ...place, writer })
  const text = writer.since(mark)
  writer.back(mark)
  try {
    return String(JSON.parse(text))
  } catch {
    return text // It was too long to be written to its end.
  }
}

function writeArray(schema: Schema, place: Place): void {
  const { items = true, prefixItems = [], minItems, maxItems = Infinity, uniqueItems = false } = schema
  const { writer, budget } = place
  const tuple = Array.isArray(items) ? items : prefixItems
  const rest = Array.isArray(items) ? true : items
  const natural = tuple.length > 0 || isDeep(place.depth) ? tuple.length : ITEMS_DEFAULT
  const length = Math.min(Math.max(minItems ?? natural, tuple.length), maxItems, ITEMS_MAX)
  const seen = new Set<string>()
  let count = 0
  writer.write('[')
  for (let turn = 0; count < length && turn < 2 * ITEMS_MAX && !writer.isFull; turn += 1) {
    const mark = writer.mark()
    budget.spendSteps(1)
    if (count > 0) writer.write(',')
    const hints = { ...place.hints, turn: place.hints.turn + turn }
    writeValue(tuple[count] ?? rest, { ...place, hints })
    if (uniqueItems && isRepeated(writer.since(mark).slice(count > 0 ? 1 : 0), seen)) writer.back(mark)
    else count += 1
  }
  writer.write(']')
}

function isRepeated(item: string, seen: Set<string>): boolean {
  if (seen.has(item)) return true
  seen.add(item)
  return false
}
