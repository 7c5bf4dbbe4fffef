import { expect, test } from 'bun:test'
import type { Fields } from './fields.ts'
import { functionSchema } from './schema-map.ts'

/** The checks that OpenAI makes of a function's parameters (2026-11). */
function refusalOf(schema: unknown, at = ''): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const { type, properties, items, prefixItems } = schema as Fields
  if (at === '' && type !== 'object')
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(type)}"'`
  if (at === '' && typeof properties !== 'object') return 'In context=(), object schema missing properties.'
  const isList = [type].flat().includes('array')
  if (isList && items === undefined && prefixItems === undefined) return `In context=${at}, array schema missing items.`
  for (const [name, one] of Object.entries(properties ?? {})) {
    const refusal = refusalOf(one, `${at}.${name}`)
    if (refusal !== undefined) return refusal
  }
  return refusalOf(items, `${at}.items`)
}

test.each<[string, Fields]>([
  ['nothing', {}],
  ['an object alone', { type: 'object' }],
  ['an object without properties', { type: 'object', additionalProperties: false }],
  ['no type', { properties: { a: { type: 'string' } } }],
  ['lists without items', { type: 'object', properties: { a: { type: 'array' }, b: { type: ['array', 'null'] } } }],
  ['lists of lists', { type: 'object', properties: { a: { type: 'array', items: { type: 'array' } } } }],
  ['a property called items', { type: 'object', properties: { items: { type: 'array' }, type: { type: 'string' } } }],
])('parameters for other vendors become valid for OpenAI: %s', (_, schema) => {
  expect(refusalOf(schema) ?? 'taken').not.toBe('taken')
  expect(refusalOf(functionSchema(schema))).toBeUndefined()
})

test('a complete schema stays unchanged', () => {
  const whole = { type: 'object', required: ['a'], properties: { a: { type: 'array', items: { type: 'string' } } } }
  expect(JSON.stringify(functionSchema(whole))).toBe(JSON.stringify(whole))
})
