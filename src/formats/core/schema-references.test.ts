import { expect, test } from 'bun:test'
import { newSchemaRoom, withoutReferences } from './schema-references.ts'

const ref = (name: string): object => ({ $ref: `#/$defs/${name}` })

test('definitions stand where they are referred to', () => {
  const schema = {
    type: 'object',
    properties: { a: ref('a'), list: { type: 'array', items: { $ref: '#/definitions/b', description: 'mine' } } },
    $defs: { a: { type: 'object', properties: { b: ref('b') } } },
    definitions: { b: { type: 'string', description: 'its' } },
  }
  expect(withoutReferences(schema, newSchemaRoom())).toEqual({
    type: 'object',
    properties: {
      a: { type: 'object', properties: { b: { type: 'string', description: 'its' } } },
      list: { type: 'array', items: { type: 'string', description: 'mine' } },
    },
  })
})

test('a schema without definitions stays as it is', () => {
  const schema = { type: 'object', properties: { $ref: { type: 'string' } } }
  expect(withoutReferences(schema, newSchemaRoom())).toBe(schema)
})

test('what refers to itself ends, and what leads nowhere is any value', () => {
  const schema = {
    properties: { tree: ref('tree'), lost: ref('none') },
    $defs: { tree: { properties: { next: ref('tree') } } },
  }
  const text = JSON.stringify(withoutReferences(schema, newSchemaRoom()))
  expect(text).not.toContain('$ref')
  expect(text).toContain('"lost":{}')
  expect(text.match(/next/g)).toHaveLength(8)
})

test('the schemas of one request share the room to grow', () => {
  const room = newSchemaRoom()
  const schema = { properties: { a: ref('a') }, $defs: { a: { description: 'x'.repeat(200_000) } } }
  expect(JSON.stringify(withoutReferences(schema, room)).length).toBeGreaterThan(200_000)
  expect(withoutReferences(schema, room)).toEqual({ properties: { a: {} } })
})

test('a definition that is used by thousands does not make a request of gigabytes', () => {
  const levels = Array.from(
    { length: 8 },
    (_, i) =>
      [
        `d${i}`,
        { properties: Object.fromEntries(Array.from({ length: 20 }, (_x, n) => [`p${n}`, ref(`d${i + 1}`)])) },
      ] as const,
  )
  const schema = {
    properties: { a: ref('d0') },
    $defs: { ...Object.fromEntries(levels), d8: { type: 'string', description: 'x'.repeat(1_000) } },
  }
  expect(JSON.stringify(withoutReferences(schema, newSchemaRoom())).length).toBeLessThan(1_000_000)
})
