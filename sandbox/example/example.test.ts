import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { Budget } from '../budget.ts'
import { exampleJson } from './example.ts'
import { hintsFrom, type Hints } from './hints.ts'
import { jsonSchema, type Schema } from './schema.ts'

/** zod makes the schema and checks the value, so the test does not depend on the generator's view of JSON Schema. */
const TYPES: Record<string, z.ZodType> = {
  'a flat object': z.object({ city: z.string(), days: z.int().min(1).max(7), metric: z.boolean() }),
  'optional and nullable properties': z.object({ a: z.string().optional(), b: z.number().nullable() }),
  'a strict object': z.strictObject({ inner: z.strictObject({ deep: z.array(z.strictObject({ x: z.number() })) }) }),
  'enums and constants': z.object({ unit: z.enum(['c', 'f']), kind: z.literal('x'), many: z.literal([1, 2]) }),
  'bounds of numbers': z.object({
    a: z.number().gt(0).lt(1),
    b: z.int().gte(100).multipleOf(7),
    c: z.number().max(-5),
    d: z.int().positive().lt(2),
    e: z.number().multipleOf(0.25).min(3.1),
  }),
  'lengths of strings': z.object({ long: z.string().min(300), short: z.string().max(2), exact: z.string().length(5) }),
  'lengths of arrays': z.object({
    many: z.array(z.int()).min(5),
    one: z.array(z.string()).max(1),
    none: z.array(z.int()).max(0),
  }),
  'a tuple': z.tuple([z.string(), z.number(), z.boolean()]),
  formats: z.object({
    mail: z.email(),
    id: z.uuid(),
    link: z.url(),
    on: z.iso.date(),
    at: z.iso.datetime(),
    time: z.iso.time(),
    took: z.iso.duration(),
    ip: z.union([z.ipv4(), z.ipv6()]),
  }),
  patterns: z.object({ code: z.string().regex(/^[A-Z]{2}-\d{3,5}$/), start: z.string().startsWith('tg-') }),
  'a union': z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
  'a discriminated union': z.discriminatedUnion('type', [
    z.object({ type: z.literal('circle'), radius: z.number().positive() }),
    z.object({ type: z.literal('square'), side: z.number().positive() }),
  ]),
  'an intersection': z.intersection(z.object({ a: z.string() }), z.object({ b: z.int().min(3) })),
  'a map': z.record(z.string(), z.int()),
  'a map of fixed keys': z.record(z.enum(['x', 'y']), z.boolean()),
  null: z.object({ nothing: z.null() }),
}

interface Tree {
  value: number
  left?: Tree | undefined
  children: Tree[]
}
const tree: z.ZodType<Tree> = z.object({
  value: z.number(),
  get left() {
    return tree.optional()
  },
  get children() {
    return z.array(tree)
  },
})

const exampleOf = (schema: Schema, hints: Hints): unknown =>
  JSON.parse(exampleJson(schema, hints, { budget: new Budget(), charsMax: Infinity }))

function example(schema: unknown, message = ''): unknown {
  return exampleOf(jsonSchema.parse(schema), hintsFrom(message, 1))
}

test.each(Object.keys(TYPES))('%s: the example is valid', (name) => {
  const type = TYPES[name] ?? z.never()
  const schema = jsonSchema.parse(z.toJSONSchema(type))
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (message, seed) => {
      type.parse(exampleOf(schema, hintsFrom(`${message} in Paris for 3 days`, seed)))
    }),
    { numRuns: 50 },
  )
})

test('a recursive schema ends', () => {
  expect(tree.parse(example(z.toJSONSchema(tree)))).toHaveProperty('children')
})

test('draft 7 definitions, tuples and combinations', () => {
  const value = example({
    definitions: { money: { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] } },
    type: 'object',
    properties: {
      price: { allOf: [{ $ref: '#/definitions/money' }, { properties: { note: { type: 'string', minLength: 3 } } }] },
      pair: { type: 'array', items: [{ type: 'integer' }, { const: 'x' }] },
      either: { oneOf: [{ type: 'null' }, { type: 'integer', minimum: 4 }] },
      maybe: { type: ['null', 'boolean'] },
    },
    required: ['price', 'pair', 'either', 'maybe', 'undeclared'],
  })
  expect(value).toEqual({
    price: { cents: expect.any(Number), note: expect.stringMatching(/.{3,}/) },
    pair: [expect.any(Number), 'x'],
    either: expect.any(Number),
    maybe: expect.any(Boolean),
    undeclared: expect.anything(),
  })
})

test('two references in one schema both count', () => {
  const value = example({
    $defs: { a: { properties: { x: { const: 1 } } }, b: { properties: { y: { const: 2 } } } },
    allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
  })
  expect(value).toEqual({ x: 1, y: 2 })
})

test('items differ when they must', () => {
  const value = example({ type: 'array', minItems: 8, uniqueItems: true, items: { type: 'string' } }, 'red red blue')
  expect(new Set(value as string[]).size).toBe(8)
})

test('values come from the message where names suggest it', () => {
  const properties = {
    city: { type: 'string' },
    unit: { enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', maximum: 14 },
    query: { type: 'string' },
    date: { type: 'string', format: 'date' },
  }
  const message = 'Weather in New York from 2026-12-24 in Fahrenheit'
  expect(example({ type: 'object', properties }, message)).toEqual({
    city: 'New York',
    unit: 'fahrenheit',
    days: expect.any(Number),
    query: message,
    date: '2026-12-24',
  })
})

test('valid addresses, links and days in the message are taken', () => {
  const properties = { to: { format: 'email' }, at: { format: 'uri' }, on: { format: 'date' } }
  const taken = (message: string): unknown => example({ properties }, message)
  expect(taken('Mail bob.b@mail.example.org about https://a.example/x?y=1. On 2026-02-28')).toEqual({
    to: 'bob.b@mail.example.org',
    at: 'https://a.example/x?y=1',
    on: '2026-02-28',
  })
  expect(taken('..@-.x http://? 2026-02-30')).toEqual({
    to: expect.stringMatching(/@example\.com$/),
    at: expect.stringMatching(/^https:\/\/example\.com\//),
    on: expect.stringMatching(/^2026-03-/),
  })
})

test('definitions that double with each step take bounded time', () => {
  const $defs: Record<string, unknown> = {}
  for (let step = 0; step < 30; step += 1) {
    const next = { $ref: `#/$defs/d${step + 1}` }
    $defs[`d${step}`] = { type: 'object', properties: { a: next, b: next }, required: ['a', 'b'] }
  }
  expect(example({ $defs, $ref: '#/$defs/d0' })).toBeObject()
})

test('a pattern that backtracks is never run', () => {
  expect(example({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`)).toMatch(/^a+$/)
})

test.each([[{ type: 5 }], [{ properties: [] }], [{ enum: [] }], [{ items: 'x' }], [{ $ref: 3 }]])(
  '%p is no schema',
  (value) => {
    expect(jsonSchema.safeParse(value).success).toBeFalse()
  },
)

/** Processor time of one answer. */
const MS_MAX = 400

const list = (items: unknown, more: object = {}): object => ({ type: 'array', minItems: 10_000, items, ...more })
const differing = { uniqueItems: true }
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `key${i}`)
const manyKeys = (count: number): Record<string, unknown> =>
  Object.fromEntries(numbered(count).map((name) => [name, { type: 'null' }]))

describe('schemas that multiply', () => {
  const text = { type: 'string', minLength: 100_000 }
  const long = 'x'.repeat(200_000)
  const pattern = (written: string, more: object = {}): object => ({ type: 'string', pattern: written, ...more })
  const bombs: Record<string, unknown> = {
    'long texts': list(text),
    'long texts in arrays of arrays': list(list(list(list(list(text))))),
    'a long constant': list({ const: long }),
    'a long constant that must differ': list({ const: long }, differing),
    'constants that must differ, in arrays': list(list({ const: 'x' }, differing), differing),
    'a long pattern': list(pattern('(ab|c)x'.repeat(20_000))),
    'a pattern of long repeats': list(pattern('((a{1000}){1000}){1000}', { maxLength: 3 })),
    'a pattern of many classes': pattern('[\\w\\W\\x00-\\uffff]'.repeat(40_000)),
    'a pattern of groups in groups': pattern(`${'('.repeat(100_000)}a`),
    'keys of a pattern of groups': {
      type: 'object',
      minProperties: 10_000,
      propertyNames: pattern('('.repeat(50_000)),
    },
    'a pattern that repeats nothing': list(pattern('^{9999}'.repeat(2_000), { minLength: 1 })),
    'a pattern that is searched for': pattern('[^q]*q', { minLength: 100_000 }),
    'many branches': list({ anyOf: Array(50_000).fill({ type: 'null' }) }),
    'many parts': list({ allOf: Array(5_000).fill({ minLength: 3 }) }),
    'many values': list({ enum: numbered(50_000) }),
    'values of two lists': list({ enum: numbered(20_000), allOf: [{ enum: numbered(20_000) }] }),
    'a long name': { properties: { [long]: list({ type: 'string' }) } },
    'long keys': { type: 'object', minProperties: 10_000, propertyNames: text },
    'a long key that is always the same': { type: 'object', minProperties: 10_000, propertyNames: { const: long } },
    'many required keys': { properties: manyKeys(30_000), required: numbered(30_000) },
    'required keys in a recursion': { properties: { ...manyKeys(300), a: { $ref: '#' } }, required: ['a'] },
    'addresses of a text without one': list({ format: 'email' }),
    'a long reference': list({ $ref: `#/${'a/'.repeat(50_000)}` }),
  }

  test.each(Object.keys(bombs))('%s: bounded, for one token and for many', (name) => {
    const schema = jsonSchema.parse(bombs[name])
    const hints = hintsFrom('a'.repeat(2_000), 1)
    for (const charsMax of [22, Infinity]) {
      const before = process.threadCpuUsage()
      const budget = new Budget()
      let chars = 0
      // The largest number of choices.
      for (let choice = 0; choice < 128; choice += 1) {
        const { length } = exampleJson(schema, hints, { budget, charsMax })
        expect(length).toBeLessThanOrEqual(charsMax)
        chars += length
      }
      expect(chars).toBeLessThanOrEqual(1_000_000)
      const { user, system } = process.threadCpuUsage(before)
      const ms = (user + system) / 1000
      expect(ms).toBeLessThan(MS_MAX)
    }
  })
})
