import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { hintFields, messagesHintFields } from './hint-fields.ts'
import { takeHints, type TakenHints } from './hints.ts'

const take = (body: object | string, fields: Parameters<typeof takeHints>[2] = hintFields): Promise<TakenHints> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return Promise.resolve(takeHints(text, Buffer.byteLength(text), fields))
}

test('what is left of a body is the body without the fields, whatever stands around them', async () => {
  const hint = fc.constantFrom(['provider', { sort: 'price' }], ['models', ['b']], ['route', null], ['provider', null])
  const other = fc.tuple(fc.constantFrom('model', 'messages', 'ä', 'x y', '"'), fc.jsonValue({ maxDepth: 2 }))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(hint, other)), fc.boolean(), async (entries, isSpaced) => {
      const body = Object.fromEntries([['model', 'm'], ...entries]) as Record<string, unknown>
      const text = JSON.stringify(body, null, isSpaced ? 2 : 0)
      // A name of no prototype is refused before the fields are looked at.
      fc.pre(!text.includes('__proto__') && typeof body['model'] === 'string')
      const taken = await take(text)
      const { provider: _, models: __, route: ___, ...rest } = body
      if (!hintFields.some((name) => name in body)) return expect(taken).toEqual({ kind: 'none' })
      if (taken.kind !== 'taken') throw new Error(`it was ${taken.kind}`)
      expect(JSON.parse(taken.text)).toEqual(JSON.parse(JSON.stringify(rest)))
      expect(taken.bytes).toBe(Buffer.byteLength(taken.text))
    }),
    { numRuns: 200 },
  )
})

test('a name that is written with escapes is the same field', async () => {
  const taken = await take('{"model":"m","\\u006dodels":["b"]}')
  expect(taken).toMatchObject({ kind: 'taken', text: '{"model":"m"}', hints: { fallbacks: ['b'] } })
})

test('without a model the first of models is it, and no name stands twice', async () => {
  expect(await take({ models: ['a', 'b', 'a'] })).toMatchObject({ text: '{"model":"a"}', hints: { fallbacks: ['b'] } })
  expect(await take({ model: 'b', models: ['a', 'b'] })).toMatchObject({ hints: { fallbacks: ['a'] } })
  expect(await take({ models: [] })).toMatchObject({ text: '{}', hints: { fallbacks: [] } })
})

test('fallbacks are for Messages alone', async () => {
  const body = { model: 'a', fallbacks: [{ model: 'b' }] }
  expect(await take(body)).toEqual({ kind: 'none' })
  expect(await take(body, messagesHintFields)).toMatchObject({ text: '{"model":"a"}', hints: { fallbacks: ['b'] } })
  const faults = [
    [['b'], 'fallbacks[0].model'],
    [{ model: 'b' }, 'fallbacks'],
    [[{}], 'fallbacks[0].model'],
  ] as const
  for (const [fallbacks, param] of faults) {
    expect(await take({ model: 'a', fallbacks }, messagesHintFields)).toMatchObject({ failure: { param } })
  }
})

test('prices are read to the nano-dollar, from text and from numbers', async () => {
  const priced = (prompt: unknown) => take({ model: 'm', provider: { max_price: { prompt } } })
  for (const [stated, nano] of [
    [0.1, 100_000_000n],
    ['0.000000001', 1n],
    [1e-9, 1n],
    [3, 3_000_000_000n],
  ] as const) {
    expect(await priced(stated)).toMatchObject({ hints: { provider: { maxPrice: { prompt: nano } } } })
  }
  for (const wrong of [-1, '-1', 'NaN', '1e3', '0.0000000001', true]) {
    expect(await priced(wrong)).toMatchObject({ failure: { param: 'provider.max_price.prompt' } })
  }
})
