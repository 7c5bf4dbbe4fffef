/** Converts JSON schemas between the form of clients and the form of Gemini. */
import { asFields, asText, fieldsIn, type Fields } from '../core/fields.ts'
import { mapSchema } from '../core/schema-map.ts'

/** Makes a schema for Gemini, which does not know `const` (2026-11). An `enum` of one value means the same. */
export function schemaForGemini(schema: unknown): unknown {
  return mapSchema(schema, (own) => {
    if (!('const' in own)) return own
    const { const: only, ...rest } = own
    return { ...rest, enum: [only] }
  })
}

/**
 * Reads a schema of Gemini's older dialect, a subset of OpenAPI's as a protocol buffer in JSON. Its types are in
 * capitals, `nullable` replaces a type null, and whole numbers are strings, as Google's SDKs type them. Fields come in
 * either spelling (`Schema` at https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference, 2026-11).
 */
export const schemaFromOpenApi = (schema: unknown): Fields => asFields(mapSchema(schema, plainSchema))

const names = new Map(
  `type format title description nullable default items minItems maxItems enum properties propertyOrdering required
   minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf additionalProperties`
    .split(/\s+/)
    .map((name) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name]),
)
  .set('defs', '$defs')
  .set('ref', '$ref')

const counts = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])
const bounds = new Set(['minimum', 'maximum'])
/** Formats of OpenAPI that JSON Schema does not have. Other vendors refuse a format that they do not know. */
const openApiFormats = new Set(['enum', 'int32', 'int64', 'float', 'double', 'byte', 'binary', 'password'])
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function plainSchema(given: Fields): Fields {
  const own: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(given)) {
    const name = names.get(key) ?? key
    const plain = plainValue(name, value, given)
    if (plain !== undefined) own[name === 'example' ? 'examples' : name] = plain
  }
  const { nullable, propertyOrdering, ...schema } = own
  if (schema['properties'] !== undefined) schema['properties'] = inOrder(schema['properties'], propertyOrdering)
  return nullable === true ? withNull(schema) : schema
}

function plainValue(name: string, value: unknown, given: Fields): unknown {
  switch (name) {
    case 'type':
      return typeOf(value)
    case 'format':
      return openApiFormats.has(asText(value)) ? undefined : value
    case '$ref':
      return typeof value === 'string' ? value.replace(/^#\/defs\//, '#/$defs/') : value
    case 'example':
      return [value]
    case 'enum':
      return isNumeric(typeOf(given['type'])) && Array.isArray(value) ? value.map(numberOf) : value
    default:
      break
  }
  if (bounds.has(name)) return numberOf(value)
  if (!counts.has(name)) return value
  const count = numberOf(value)
  // A bound this large is no bound, and its digits would not survive.
  return typeof count === 'number' && !Number.isSafeInteger(count) ? undefined : count
}

const isNumeric = (type: unknown): boolean => type === 'integer' || type === 'number'

const numberOf = (value: unknown): unknown => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value)

function typeOf(type: unknown): unknown {
  if (typeof type !== 'string') return type
  const plain = type.toLowerCase()
  return plain === 'type_unspecified' || plain === '' ? undefined : plain
}

function withNull(schema: Fields): Fields {
  const { type, enum: values, anyOf } = schema
  return {
    ...schema,
    ...(typeof type === 'string' && type !== 'null' ? { type: [type, 'null'] } : {}),
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: [...(anyOf as unknown[]), { type: 'null' }] } : {}),
  }
}

/** Other vendors write properties in the order of the schema. */
function inOrder(properties: unknown, order: unknown): unknown {
  const all = fieldsIn(properties)
  if (!all || !Array.isArray(order)) return properties
  const first = order.filter((name): name is string => typeof name === 'string' && Object.hasOwn(all, name))
  const ordered = [...new Set([...first, ...Object.keys(all)])]
  return Object.fromEntries(ordered.map((name) => [name, all[name]]))
}
