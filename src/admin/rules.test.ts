import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { z } from 'zod'
import { visibleName } from './name.ts'
import { misfitIn, operationRules } from './rules.ts'

const schema = z.strictObject({
  name: visibleName,
  count: z.int().min(1).max(9),
  texts: z.array(z.string()).min(1).max(2),
  word: z.string().min(2).max(4),
  kind: z.enum(['a', 'b']),
  at: z.iso.datetime(),
  address: z.email(),
})
const good = {
  name: 'n',
  count: 1,
  texts: ['a'],
  word: 'abc',
  kind: 'a',
  at: '2026-01-01T00:00:00Z',
  address: 'a@b.co',
}

const misfits: readonly (readonly [change: object, reason: string, param: string | undefined, facts?: object])[] = [
  [{ name: 'a/b' }, 'name_letters', 'name'],
  [{ name: 'a\u200B' }, 'name_unseen', 'name'],
  [{ name: undefined }, 'missing', 'name'],
  [{ name: 5 }, 'wrong_type', 'name', { expected: 'string' }],
  [{ count: 0 }, 'too_small', 'count', { min: 1 }],
  [{ count: 10 }, 'too_large', 'count', { max: 9 }],
  [{ count: 1.5 }, 'wrong_type', 'count', { expected: 'int' }],
  [{ texts: [] }, 'too_few', 'texts', { min: 1 }],
  [{ texts: ['a', 'b', 'c'] }, 'too_many', 'texts', { max: 2 }],
  [{ texts: [1] }, 'wrong_type', 'texts.0', { expected: 'string' }],
  [{ word: 'a' }, 'too_short', 'word', { min: 2 }],
  [{ word: 'abcde' }, 'too_long', 'word', { max: 4 }],
  [{ kind: 'c' }, 'not_one_of', 'kind', { values: 'a, b' }],
  [{ at: 'now' }, 'bad_time', 'at'],
  [{ address: 'x' }, 'invalid', 'address'],
  [{ more: 1 }, 'unknown_field', undefined, { names: 'more' }],
]

test.each(misfits)('%j is refused as %s', (change, reason, param, facts = {}) => {
  const { error } = schema.safeParse({ ...good, ...change })
  if (!error) throw new Error('it was taken')
  const misfit = misfitIn(error)
  expect(misfit).toMatchObject({ reason, param, facts })
  expect(misfit.message.startsWith(param === undefined ? '' : `${param}: `)).toBe(true)
})

test('every rule of a schema has a reason: no rule is written in place', async () => {
  const src = `${import.meta.dir}/..`
  const files = await Array.fromAsync(new Glob('{admin,console}/*.ts').scan(src))
  const read = files.filter((file) => !file.includes('.test.') && file !== 'admin/rules.ts')
  expect(read.length).toBeGreaterThan(40)
  const texts = await Promise.all(read.map((file) => Bun.file(`${src}/${file}`).text()))
  expect(read.filter((_, at) => /['"`]must /.test(texts[at] ?? ''))).toEqual([])
  expect(new Set(Object.values(operationRules)).size).toBe(Object.keys(operationRules).length)
})
