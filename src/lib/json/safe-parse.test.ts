import { expect, test } from 'bun:test'
import { z } from 'zod'
import { safeParse } from './safe-parse.ts'

const schema = z.looseObject({ name: z.string().min(1), list: z.array(z.string()).max(3).optional() })

test('a length that cannot be compared is a wrong type, with its path', () => {
  for (const length of [{ valueOf: 1, toString: 1 }, [{ toString: 1, valueOf: 1 }]]) {
    expect(() => schema.safeParse({ name: { length } })).toThrow(TypeError)
    const named = safeParse(schema, { name: { length } })
    expect(named.error?.issues[0]).toMatchObject({ code: 'invalid_type', path: ['name'] })
    const listed = safeParse(schema, { name: 'x', list: { length } })
    expect(listed.error?.issues[0]).toMatchObject({ code: 'invalid_type', path: ['list'] })
  }
})

test('a user’s own field called length stays', () => {
  const own = { name: 'x', properties: { length: { type: 'integer' } } }
  expect(safeParse(schema, own).data).toEqual(own)
})
