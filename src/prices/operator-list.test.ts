import { expect, test } from 'bun:test'
import type { Provider } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import { planImport, type ImportPlan } from './import-plan.ts'
import { readOperatorList } from './operator-list.ts'
import { priceList, type PriceList } from './price-list.ts'
import { withinBound } from './within-bound.ts'

const listOf = (models: object, more: object = {}): string =>
  JSON.stringify({ vendors: { openai: { models } }, ...more })
const problemOf = (text: string): string => {
  const read = readOperatorList(text, 'x')
  return 'problem' in read ? read.problem : 'none'
}
const good = (text: string): PriceList => {
  const read = readOperatorList(text, 'https://a.example/list.json')
  if ('problem' in read) throw new Error(read.problem)
  return read
}

test('the list in the program is in the format of an operator’s list', () => {
  const { vendors } = priceList()
  const own = Object.fromEntries(
    Object.entries(vendors).map(([preset, { upstreamPrefix, models }]) => [preset, { upstreamPrefix, models }]),
  )
  const read = good(JSON.stringify({ vendors: own, released: '2026-11-01', version: '7' }))
  expect(Object.keys(read.vendors)).toEqual(Object.keys(vendors))
  expect(read.vendors['openai']?.models).toEqual(vendors['openai']?.models as never)
})

test('a price of zero, none, or no number is refused by its path, as is what is not known', () => {
  const bad = (prices: object): string => problemOf(listOf({ m: { prices: [prices] } }))
  for (const input of ['0', '0.0', '-1', 'NaN', '1e3', '', '0.0000000001'])
    expect(bad({ input, output: '1' })).toContain('vendors.openai.models.m.prices.0.input')
  expect(bad({ input: 1, output: '1' })).toContain('input')
  expect(bad({ input: '1' })).toContain('output')
  expect(bad({ input: '1', output: '0' })).toContain('output')
  expect(bad({ input: '1', output: '1', above: [{ tokens: 5, input: '1' }] })).toContain('output')
  expect(bad({ input: '1', output: '1', cached: '0' })).toContain('cached')
  expect(bad({ input: '1', output: '1', surprise: '1' })).toContain('surprise')
  expect(problemOf(listOf({ m: { prices: [] } }))).toContain('prices')
  expect(problemOf(listOf({ m: { context: 0, prices: [{ input: '1', output: '1' }] } }))).toContain('context')
  expect(problemOf(listOf({}, { version: '1.0\nnothing changes' }))).toContain('version')
  expect(problemOf('{"vendors":{"a\\u001b[2J":{"models":{}}}}')).not.toBe('none')
  expect(problemOf('{"vendors":{"a":{"upstreamPrefix":"a b","models":{}}}}')).toContain('upstreamPrefix')
  expect(problemOf('{"__proto__": 1}')).not.toBe('none')
  expect(problemOf('[]')).not.toBe('none')
  expect(problemOf('{')).toContain('JSON')
  expect(problemOf(listOf({ e: { kind: 'embedding', prices: [{ input: '1' }] } }))).toBe('none')
})

test('two prices for the same requests are refused', () => {
  const price = { input: '1', output: '2' }
  const twice = { prices: [price, { ...price, from: '2027-01-01' }, { ...price, from: '2027-01-01', input: '9' }] }
  expect(problemOf(listOf({ m: twice }))).toContain('the same day')
  const above = [
    { tokens: 5, ...price },
    { tokens: 5, ...price, input: '9' },
  ]
  expect(problemOf(listOf({ m: { prices: [{ ...price, above }] } }))).toContain('same number of tokens')
})

test('a list is bounded, so that neither its import nor a request of its models takes long', () => {
  const price = { input: '1', output: '2' }
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`m${i}`, { prices: [price] }]))
  expect(problemOf(listOf(many))).toContain('1000 models')
  const above = Array.from({ length: 21 }, (_, i) => ({ tokens: i + 1, ...price }))
  expect(problemOf(listOf({ m: { prices: [{ ...price, above }] } }))).toContain('above')
  expect(problemOf(listOf({ m: { prices: [{ ...price, input: '1000000.000000001' }] } }))).toContain('input')
})

const provider = { id: 'openai', preset: 'openai' } as Provider
const planOf = (list: PriceList, before: ImportPlan | undefined): ImportPlan =>
  planImport({
    models: new Map(
      (before?.changes ?? []).map(({ draft }) => [
        draft.id,
        {
          ...draft,
          limits: { ...defaultModelLimits, ...draft.limits },
          origin: 'stored',
          sale: { id: 1, effectiveFromMs: 0, nanoPerMillion: draft.price, tiers: draft.priceTiers ?? [] },
          offers: draft.offers.map((offer) => ({
            ...offer,
            cost: { id: 1, effectiveFromMs: 0, nanoPerMillion: offer.cost, tiers: offer.costTiers ?? [] },
          })),
        } as never,
      ]),
    ),
    aliases: new Set(),
    providers: [provider],
    selected: [provider],
    patterns: [],
    by: 200_000n,
    atMs: Date.parse('2026-11-01'),
    list,
  })

test('changes within the bound are applied, and all others are held back', () => {
  const first = (input: string, more: object = {}) => ({ prices: [{ input, output: '10' }], ...more })
  const before = planOf(
    good(listOf({ a: first('1'), b: first('1'), c: first('1', { context: 1_000 }), d: first('1') })),
    undefined,
  )
  expect(before.changes.map(({ kind }) => kind)).toEqual(['new', 'new', 'new', 'new'])
  expect(withinBound(before, 200_000n)).toMatchObject({ plan: { changes: [] }, held: ['a', 'b', 'c', 'd'] })
  const after = planOf(
    good(
      listOf({
        a: first('1.2'),
        b: first('1.21'),
        c: first('0.8', { context: 1_200 }),
        d: { prices: [{ input: '1', output: '10', cached: '0.5' }] },
      }),
    ),
    before,
  )
  expect(after.changes.map(({ draft }) => draft.id)).toEqual(['a', 'b', 'c', 'd'])
  const { plan, held } = withinBound(after, 200_000n)
  expect(plan.changes.map(({ draft }) => draft.id)).toEqual(['a', 'c'])
  expect(held).toEqual(['b', 'd'])
})

test('a list that calls a model an embedding does not make its output free', () => {
  const before = planOf(good(listOf({ m: { prices: [{ input: '1', output: '10' }] } })), undefined)
  const { changes, skipped } = planOf(good(listOf({ m: { kind: 'embedding', prices: [{ input: '1' }] } })), before)
  expect(changes).toEqual([])
  expect(skipped).toMatchObject([{ what: 'm', code: 'output_unpriced' }])
})
