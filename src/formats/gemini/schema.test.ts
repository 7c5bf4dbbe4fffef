import { expect, test } from 'bun:test'
import type { Fields } from '../core/fields.ts'
import { schemaFromOpenApi } from './schema.ts'

const plain: readonly (readonly [string, Fields, Fields])[] = [
  ['types in capitals', { type: 'ARRAY', items: { type: 'INTEGER' } }, { type: 'array', items: { type: 'integer' } }],
  [
    'whole numbers as the SDK types them',
    { type: 'OBJECT', minProperties: '1', properties: { a: { type: 'ARRAY', minItems: '1', maxItems: '5' } } },
    { type: 'object', minProperties: 1, properties: { a: { type: 'array', minItems: 1, maxItems: 5 } } },
  ],
  [
    'bounds as strings, and one that is none',
    { type: 'NUMBER', minimum: '-1.5', maximum: 9 },
    { type: 'number', minimum: -1.5, maximum: 9 },
  ],
  ['a length that nothing has', { type: 'STRING', maxLength: '9223372036854775807' }, { type: 'string' }],
  [
    'no type at all',
    { type: 'OBJECT', properties: { a: { type: 'TYPE_UNSPECIFIED' } } },
    { type: 'object', properties: { a: {} } },
  ],
  ['nullable', { type: 'STRING', nullable: true }, { type: ['string', 'null'] }],
  [
    'nullable choices',
    { type: 'STRING', format: 'enum', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    'nullable alternatives',
    { anyOf: [{ type: 'STRING' }], nullable: true },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
  ],
  [
    'numbers to choose from',
    { type: 'INTEGER', format: 'enum', enum: ['101', '201'] },
    { type: 'integer', enum: [101, 201] },
  ],
  ['formats of OpenAPI', { type: 'INTEGER', format: 'int64' }, { type: 'integer' }],
  ['formats of JSON Schema', { type: 'STRING', format: 'date-time' }, { type: 'string', format: 'date-time' }],
  [
    'the other spelling',
    { type: 'ARRAY', min_items: '2', items: { any_of: [{ type: 'STRING', max_length: '3' }] } },
    { type: 'array', minItems: 2, items: { anyOf: [{ type: 'string', maxLength: 3 }] } },
  ],
  [
    'definitions',
    { type: 'OBJECT', properties: { pet: { ref: '#/defs/Pet' } }, defs: { Pet: { type: 'STRING' } } },
    { type: 'object', properties: { pet: { $ref: '#/$defs/Pet' } }, $defs: { Pet: { type: 'string' } } },
  ],
  ['an example', { type: 'STRING', example: 'x' }, { type: 'string', examples: ['x'] }],
  [
    'properties that are called like keywords',
    {
      type: 'OBJECT',
      properties: { type: { type: 'STRING' }, minItems: { type: 'STRING' }, nullable: { type: 'BOOLEAN' } },
    },
    {
      type: 'object',
      properties: { type: { type: 'string' }, minItems: { type: 'string' }, nullable: { type: 'boolean' } },
    },
  ],
  ['nothing that could be put right', { type: 'ARRAY', minItems: 'five' }, { type: 'array', minItems: 'five' }],
]

test.each(plain)('from the dialect of OpenAPI: %s', (_, given, expected) => {
  expect(schemaFromOpenApi(given)).toEqual(expected)
})

test('properties keep the requested order', () => {
  const properties = { a: { type: 'STRING' }, b: { type: 'STRING' }, c: { type: 'STRING' } }
  const read = schemaFromOpenApi({ type: 'OBJECT', properties, propertyOrdering: ['c', 'a', 'z'] })
  expect(JSON.stringify(read)).toBe(
    '{"type":"object","properties":{"c":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}}}',
  )
})
