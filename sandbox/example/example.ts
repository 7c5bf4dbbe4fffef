import type { Budget } from '../budget.ts'
import { flatten, isDeep, type SchemaScope } from './flatten.ts'
import { takeTurn, wordsOnly, type Hints } from './hints.ts'
import { valueNamedFor } from './named-values.ts'
import { exampleNumber } from './number.ts'
import type { AnySchema, Schema } from './schema.ts'
import { exampleText } from './text.ts'
import { JsonWriter } from './writer.ts'

/** `isWhole`: this is the whole value, not a part of it. */
type Place = SchemaScope & { name: string; hints: Hints; writer: JsonWriter; isWhole?: boolean }

/** Schemas that are read for one value. Beyond that, every value is a word. */
const NODES_MAX = 20_000
/** The items of an array without `minItems`. */
const ITEMS_DEFAULT = 2
/** The most items of an array. If a schema demands more, the answer is invalid but short. */
const ITEMS_MAX = 10_000
/** The part of a property's name that decides its value. */
const NAME_CHARS_MAX = 100

/**
 * A value that is valid for a JSON Schema, as JSON. It uses the message where the names suggest it. Without room for
 * all of it, the JSON ends in the middle.
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

/** The named type, or the type that the other keywords belong to. */
function kindOf(schema: Schema): string {
  const { type } = schema
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null'
  if (type !== undefined) return type
  if (schema.properties ?? schema.additionalProperties ?? schema.required) return 'object'
  if (schema.items ?? schema.prefixItems ?? schema.minItems) return 'array'
  const isBounded = schema.minimum ?? schema.maximum ?? schema.exclusiveMinimum ?? schema.multipleOf
  return isBounded === undefined ? 'string' : 'number'
}

/** A value that the message mentions. Otherwise the values follow in order, from a start that the message decides. */
function chosenFrom(values: readonly unknown[], { hints, budget }: Place): unknown {
  const { turn, known } = hints
  let mentioned = known.mentioned.get(values)
  if (!mentioned) {
    mentioned = mentionedOf(values, hints, budget)
    known.mentioned.set(values, mentioned)
  }
  return takeTurn(turn < mentioned.length ? mentioned : values, turn)
}

/** The values that the text mentions. A value longer than the text is skipped. */
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

/** All properties, or only the required ones deep inside a recursion. A map of free keys gets one key. */
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
  // If the schema declares no property, the keys come from the message.
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

/** A key that a schema allows. It is written with its value. */
function keyFrom(schema: AnySchema, place: Place): string {
  const writer = new JsonWriter(place.budget, place.writer.charsLeft)
  const mark = writer.mark()
  writeValue(schema, { ...place, writer })
  const text = writer.since(mark)
  writer.back(mark)
  try {
    return String(JSON.parse(text))
  } catch {
    return text // The text was cut because it was too long.
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
