import { expect, test } from 'bun:test'
import { currentTypes, FILE, typeOf } from './api-types.ts'

test('the console’s types match the document (npm run api-types)', async () => {
  expect(await Bun.file(FILE).text()).toBe(await currentTypes())
})

test('a schema is a type', () => {
  const text = { type: 'string' }
  expect(typeOf({ $ref: '#/components/schemas/Account' })).toBe('Account')
  expect(typeOf({ anyOf: [text, { type: 'null' }] })).toBe('string | null')
  expect(typeOf({ type: ['string', 'integer'] })).toBe('string | number')
  expect(typeOf({ enum: ['a', 'b'] })).toBe('"a" | "b"')
  expect(typeOf({ const: true })).toBe('true')
  expect(typeOf({ type: 'array', items: text })).toBe('readonly (string)[]')
  expect(typeOf({ type: 'object', additionalProperties: text })).toBe('Readonly<Record<string, string>>')
  expect(typeOf({ description: 'whatever it was' })).toBe('unknown')
  const properties = { a: text, b: { ...text, description: 'why' } }
  expect(typeOf({ type: 'object', properties, required: ['a'] })).toBe(
    '{\nreadonly a: string\n/** why */\nreadonly b?: string\n}',
  )
})

test('an unknown form is no type', () => {
  expect(() => typeOf({ type: 'tuple' })).toThrow('no type for')
  expect(() => typeOf({ additionalProperties: true })).toThrow('no type for')
})
