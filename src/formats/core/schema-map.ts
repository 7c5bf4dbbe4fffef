/** Revises JSON schemas between dialects. */
import { asList, fieldsIn, type Fields } from './fields.ts'

const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const singles = new Set(['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'])

/** Revises a schema and every schema in it. A property that is named like a keyword is no schema keyword. */
export function mapSchema(schema: unknown, revise: (own: Fields) => Fields): unknown {
  const own = fieldsIn(schema)
  if (!own) return schema
  const inner = (one: unknown): unknown => mapSchema(one, revise)
  const entries = Object.entries(revise(own)).map(([key, value]) => {
    const named = maps.has(key) ? fieldsIn(value) : undefined
    if (named) {
      return [key, Object.fromEntries(Object.entries(named).map(([name, one]) => [name, inner(one)]))]
    }
    if (lists.has(key)) return [key, asList(value).map(inner)]
    return [key, singles.has(key) ? inner(value) : value]
  })
  return Object.fromEntries(entries) as unknown
}

/**
 * The parameters of a function in a form that OpenAI accepts. It refuses an object without `properties` and a list
 * without `items` ("In context=(), object schema missing properties.",
 * https://github.com/langchain-ai/langchain-mcp-adapters/issues/137,
 * https://github.com/bnb-chain/bnbchain-mcp/issues/68, 2026-11). MCP servers leave both out.
 */
export function functionSchema(parameters: Fields): Fields {
  const { type = 'object', properties = {} } = parameters
  const root = { ...parameters, type, ...(isOf(type, 'object') ? { properties } : {}) }
  return fieldsIn(mapSchema(root, withItems)) ?? root
}

const isOf = (type: unknown, name: string): boolean => type === name || asList(type).includes(name)

const withItems = (own: Fields): Fields =>
  isOf(own['type'], 'array') && own['items'] === undefined && own['prefixItems'] === undefined
    ? { ...own, items: {} }
    : own
