import { expect, test } from 'bun:test'
import { saleOfKind, type ModelKind } from '../domain/catalog.ts'
import { unitPrices } from '../domain/price.ts'
import { missingUnit, pricesFrom, problemOfDeclared } from './stated-prices.ts'

const tier = { aboveInputTokens: 272_000, nanoPerMillion: unitPrices({ input: 5n, output: 22n, cachedInput: 1n }) }
const before = { units: unitPrices({ input: 30n, output: 150n, cachedInput: 3n }), tiers: [tier] }

const sold = (kind: ModelKind, { paintsInTurn = false } = {}) => ({ ...saleOfKind(kind), paintsInTurn })

test('unnamed prices stay: tiers, a separate cached price, and prices that follow another', () => {
  const { units, tiers } = pricesFrom({ input: 40n }, before)
  expect(tiers).toEqual([tier])
  expect(units).toEqual(unitPrices({ input: 40n, output: 150n, cachedInput: 3n }))
  expect(units.cacheWrite5m).toBe(40n)
})

test('null removes: a unit follows another, and tiers are gone', () => {
  const { units, tiers } = pricesFrom({ cached_input: null, above: null }, before)
  expect([units.inputCached, tiers]).toEqual([30n, []])
  expect(pricesFrom({ above: {} }, before).tiers).toEqual([])
})

test('named tiers replace the tiers before, and each is merged into the one of its length', () => {
  const above = { 500000: { input: 9n, output: 30n }, 272000: { output: 25n } }
  expect(pricesFrom({ above }, before).tiers).toEqual([
    { aboveInputTokens: 272_000, nanoPerMillion: unitPrices({ input: 5n, output: 25n, cachedInput: 1n }) },
    { aboveInputTokens: 500_000, nanoPerMillion: unitPrices({ input: 9n, output: 30n }) },
  ])
})

test('units stated as a whole keep the tiers', () => {
  expect(pricesFrom({ input: 1n, output: 2n }, { tiers: [tier] })).toEqual({
    units: unitPrices({ input: 1n, output: 2n }),
    tiers: [tier],
  })
})

test('a price by the piece replaces one by tokens, and the reverse, and a card with both keeps both', () => {
  const tokens = { units: unitPrices({ input: 5n, output: 40n }), tiers: [tier] }
  const pieces = { units: unitPrices({ input: 0n, output: 0n, each: { image: 4n } }), tiers: [] }
  const both = { units: unitPrices({ input: 0n, output: 7n, each: { upscale: 3n } }), tiers: [] }
  expect(pricesFrom({ each: { image: 4n } }, tokens)).toEqual(pieces)
  expect(pricesFrom({ input: 5n, output: 40n }, pieces).units).toEqual(tokens.units)
  expect(pricesFrom({ output: 8n }, both).units).toEqual(unitPrices({ input: 0n, output: 8n, each: { upscale: 3n } }))
  expect(pricesFrom({ output: 8n, each: null }, both).units).toEqual(unitPrices({ input: 0n, output: 8n }))
})

test('a unit without a price would be free', () => {
  const text = sold('text')
  expect(missingUnit({ input: 1n }, text)).toEqual({ path: ['output'], unit: 'output' })
  expect(missingUnit({ input: 1n }, text, before)).toBeUndefined()
  expect(missingUnit({ output: null }, text, before)).toEqual({ path: ['output'], unit: 'output' })
  // With a price by the piece alone, tokens would be free.
  expect(missingUnit({ each: { image: 1n } }, text, before)).toEqual({ path: ['input'], unit: 'input' })
  expect(missingUnit({ above: { 9: { input: 1n } } }, text, before)?.path).toEqual(['above', '9', 'output'])
  expect(missingUnit({ above: { 272000: { input: 1n } } }, text, before)).toBeUndefined()
  const embedding = sold('embedding')
  expect(missingUnit({ input: 1n }, embedding)).toBeUndefined()
  const image = sold('image')
  expect(missingUnit({ each: { image: 1n } }, image)).toBeUndefined()
  expect(missingUnit({}, image)).toEqual({ path: ['input'], unit: 'input' })
  expect(missingUnit({ input: 1n }, sold('image', { paintsInTurn: true }))?.unit).toBe('output')
  expect(missingUnit({ output: 1n }, sold('video'))).toBeUndefined()
})

test('work that is sold by the piece alone needs a price of its pieces, whatever its tokens cost', () => {
  const speech = { soldBy: 'pieces', tokenPrices: [], paintsInTurn: false } as const
  expect(missingUnit({}, speech)).toEqual({ path: ['each'], unit: 'each' })
  expect(missingUnit({ input: 1n }, speech)?.unit).toBe('each')
  expect(missingUnit({ each: { second: 1n } }, speech)).toBeUndefined()
  const declared = { kind: 'speech', ...speech }
  expect(problemOfDeclared({ input: 1n, output: 1n }, declared)).toBe('each: a speech model needs its price')
  expect(problemOfDeclared({ each: { second: 1n } }, declared)).toBeUndefined()
})

const NO_PRICE = 'a model needs a price: input, or each'

test.each([
  ['text', 'input', 'output: a text model needs its price'],
  ['text', 'output', 'input: a text model needs its price'],
  ['text', 'each', 'output: a text model needs its price'],
  ['text', 'input and output', undefined],
  ['embedding', 'nothing', 'input: a embedding model needs its price'],
  ['embedding', 'input', undefined],
  ['image', 'nothing', NO_PRICE],
  ['image', 'output', NO_PRICE],
  ['image', 'input', undefined],
  ['image', 'each', undefined],
  ['video', 'nothing', NO_PRICE],
  ['video', 'output', undefined],
  ['video', 'each', undefined],
] as const)('a declared price of a model for %s states %s', (kind, names, problem) => {
  const stated = {
    ...(names.includes('input') && { input: 0n }),
    ...(names.includes('output') && { output: 0n }),
    ...(names.includes('each') && { each: { second: 0n } }),
  }
  expect(problemOfDeclared(stated, { kind, ...sold(kind) })).toBe(problem)
})

test('an image model that answers in turns is declared by tokens, with a price of its text', () => {
  const turn = { kind: 'image', ...sold('image', { paintsInTurn: true }) }
  expect(problemOfDeclared({ input: 1n }, turn)).toBe('output: such a model also answers with text')
  expect(problemOfDeclared({ input: 1n, output: 1n, each: { image: 1n } }, turn)).toBe(
    'each: such a model is sold by tokens',
  )
  expect(problemOfDeclared({ input: 1n, output: 1n }, turn)).toBeUndefined()
})
