/** Values that a message gives by name, as `city=Oslo, days: 3` or as a JSON object. Arguments use them first. */
import type { AnySchema, Schema } from './schema.ts'

export type NamedValues = {
  /** The first JSON object in the message. */
  readonly object: Readonly<Record<string, unknown>> | undefined
  /** By name, in order. The second call of a tool takes the second value. */
  readonly pairs: ReadonlyMap<string, readonly string[]>
}

/** The searched part of a message. */
const TEXT_CHARS_MAX = 16_000
const OBJECTS_MAX = 8
const PAIR =
  /(?<![\w.-])([A-Za-z_][\w-]{0,63})(?: ?= ?| ?: )(\[[^\]\n]{0,500}\]|"[^"\n]{0,500}"|'[^'\n]{0,500}'|`[^`\n]{0,500}`|[^\s,;)}\]]{1,500})/g

export function namedValuesIn(message: string): NamedValues {
  const text = message.slice(0, TEXT_CHARS_MAX)
  const pairs = new Map<string, string[]>()
  for (const [, name = '', said = ''] of text.matchAll(PAIR)) {
    const value = /^["'`]/.test(said) ? said.slice(1, -1) : said.replace(/[.!?:]+$/, '')
    if (value !== '') pairs.set(name, [...(pairs.get(name) ?? []), value])
  }
  return { object: objectIn(text), pairs }
}

/** The first JSON object in a text, inside or outside a code fence. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  let at = -1
  for (let tries = 0; tries < OBJECTS_MAX; tries += 1) {
    at = text.indexOf('{', at + 1)
    if (at === -1) return undefined
    const end = endOf(text, at)
    if (end === undefined) continue
    try {
      return JSON.parse(text.slice(at, end)) as Record<string, unknown>
    } catch {
      // The brace began no JSON object.
    }
  }
  return undefined
}

/** The end of the object that begins at `start`. */
function endOf(text: string, start: number): number | undefined {
  let [depth, isText] = [0, false]
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at]
    if (isText && sign === '\\') at += 1
    else if (sign === '"') isText = !isText
    else if (!isText && sign === '{') depth += 1
    else if (!isText && sign === '}') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return undefined
}

/** The value that the message gives for a property, if it is valid for the schema. */
export function valueNamedFor(
  name: string,
  schema: Schema,
  { told, turn }: { told: NamedValues; turn: number },
): unknown {
  const { object, pairs } = told
  if (object && Object.hasOwn(object, name) && fits(object[name], schema)) return object[name]
  const all = pairs.get(name)
  const said = all?.[turn] ?? all?.[0]
  if (said === undefined) return undefined
  if (fits(said, schema) && typesOf(schema).includes('string')) return said
  try {
    const value: unknown = JSON.parse(said.toLowerCase() === 'none' ? 'null' : said)
    return fits(value, schema) ? value : undefined
  } catch {
    return undefined // The value is a text, and the schema allows none.
  }
}

const typesOf = ({ type, enum: values }: Schema): readonly string[] =>
  type === undefined ? (values ? values.map((value) => typeof value) : ['string']) : [type].flat()

/** Keywords that this check does not cover. With one of them, the value is generated instead. */
const UNJUDGED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'pattern', 'format', 'prefixItems', 'propertyNames'] as const

/** Whether a value is valid for a schema, as far as a simple check can tell. */
function fits(value: unknown, given: AnySchema): boolean {
  if (typeof given === 'boolean') return given
  if (UNJUDGED.some((keyword) => given[keyword] !== undefined)) return false
  if (Object.hasOwn(given, 'const') && given.const !== value) return false
  if (given.enum && !given.enum.includes(value)) return false
  if (given.type !== undefined && ![given.type].flat().some((type) => isOf(value, type))) return false
  if (typeof value === 'number') return isWithin(value, given)
  if (typeof value === 'string') return isLong(value.length, given.minLength, given.maxLength)
  if (Array.isArray(value)) return isList(value, given)
  return typeof value === 'object' && value !== null ? isObject(value as Record<string, unknown>, given) : true
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  return typeof value === type && value !== null && !Array.isArray(value)
}

const isLong = (length: number, least = 0, most = Infinity): boolean => length >= least && length <= most

function isWithin(value: number, given: Schema): boolean {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum: above, exclusiveMaximum: below } = given
  const isBounded = value >= minimum && value <= maximum && value > (above ?? -Infinity) && value < (below ?? Infinity)
  return isBounded && (given.multipleOf === undefined || Number.isInteger(value / given.multipleOf))
}

function isList(value: readonly unknown[], { items = true, minItems, maxItems, uniqueItems }: Schema): boolean {
  if (Array.isArray(items) || uniqueItems) return false
  return isLong(value.length, minItems, maxItems) && value.every((one) => fits(one, items))
}

function isObject(value: Readonly<Record<string, unknown>>, given: Schema): boolean {
  const { properties = {}, required = [], additionalProperties = true, minProperties } = given
  return (
    Object.keys(value).length >= (minProperties ?? 0) &&
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, one]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined
      return fits(one, own ?? additionalProperties)
    })
  )
}
