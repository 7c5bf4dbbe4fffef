/** JSON schemas between what clients write and what Gemini takes. */
import { asFields, asList, type Fields } from '../fields.ts'

const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const singles = new Set(['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'])

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Revises a schema and every schema in it; a property that is named like a keyword is none. */
function mapSchema(schema: unknown, revise: (own: Fields) => Fields): unknown {
  if (!isFields(schema)) return schema
  const inner = (one: unknown): unknown => mapSchema(one, revise)
  const entries = Object.entries(revise(schema)).map(([key, value]) => {
    if (maps.has(key) && isFields(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]))]
    }
    if (lists.has(key)) return [key, asList(value).map(inner)]
    return [key, singles.has(key) ? inner(value) : value]
  })
  return Object.fromEntries(entries) as unknown
}

/** For Gemini: it does not know `const` (2026-11); an `enum` of one value says the same. */
export function schemaForGemini(schema: unknown): unknown {
  return mapSchema(schema, (own) => {
    if (!('const' in own)) return own
    const { const: only, ...rest } = own
    return { ...rest, enum: [only] }
  })
}

/** From Gemini's older dialect, a subset of OpenAPI's: types in capitals, `nullable` instead of a type null. */
export function schemaFromOpenApi(schema: unknown): Fields {
  const plain = mapSchema(schema, (own) => {
    const { type, nullable, ...rest } = own
    if (typeof type !== 'string') return own
    const plainType = type.toLowerCase()
    return { ...rest, type: nullable === true ? [plainType, 'null'] : plainType }
  })
  return asFields(plain)
}
