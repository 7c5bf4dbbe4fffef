import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openConsole, type Caller, type TestConsole } from '../../test/support/console.ts'

let context: TestConsole
let operator: Caller
beforeAll(async () => {
  context = await openConsole()
  operator = await context.as('operator')
})
afterAll(() => context.close())

type ShownView = { takes_pictures: boolean; dimensions_adjustable: boolean; video: Record<string, unknown> | null }
const offers = [{ provider: 'sandbox', model: 'theirs' }]
const price = { input: '1', output: '1' }

test('a removed capability can be added again, and unnamed ones stay', async () => {
  await context.call(operator, 'POST /models', { id: 'plain', price, offers, pictures: false })
  const change = async (body: object): Promise<ShownView> =>
    (await context.call<ShownView>(operator, 'PATCH /models/plain', body)).body
  expect(await change({ context_tokens: 9 })).toMatchObject({ takes_pictures: false })
  expect(await change({ pictures: true })).toMatchObject({ takes_pictures: true, context_tokens: 9 })
  expect(await change({ pictures: false, dimensions_adjustable: true })).toMatchObject({ takes_pictures: false })
  expect(await change({ dimensions_adjustable: false })).toMatchObject({ dimensions_adjustable: false })
})

test('operators see who upscales videos, and customers see only whether it is possible', async () => {
  const film = { id: 'film', kind: 'video', price: { ...price, each: { second: '1' } }, offers }
  const made = await context.call<ShownView>(operator, 'POST /models', { ...film, video: { upscaler: 'sandbox' } })
  expect(made.body.video).toMatchObject({ upscaler: 'sandbox', upscales: true })
  const path = `GET /accounts/${context.accountId}/models/film`
  const { video } = (await context.call<ShownView>(await context.as('owner'), path)).body
  expect(video).toMatchObject({ upscales: true })
  expect(video).not.toHaveProperty('upscaler')
})

test('a price with a mark-up shows that mark-up despite rounding', async () => {
  type CreatedView = { offers: readonly { margin: Record<string, unknown> }[] }
  const draft = (id: string, price: object, cost: object): object => ({
    id,
    kind: 'text',
    price,
    offers: [{ provider: 'sandbox', model: 'theirs', cost }],
  })
  const marginOf = async (...made: Parameters<typeof draft>): Promise<unknown> =>
    (await context.call<CreatedView>(operator, 'POST /models', draft(...made))).body.offers[0]?.margin
  expect(
    await marginOf('plus-20', { input: '180000001', output: '720000000' }, { input: '150000000', output: '600000000' }),
  ).toEqual({
    input_percent: 16.7,
    output_percent: 16.7,
    input_markup_percent: 20,
    output_markup_percent: 20,
  })
  expect(await marginOf('minus-50', { input: '5', output: '0' }, { input: '10', output: '0' })).toEqual({
    input_percent: -100,
    output_percent: null,
    input_markup_percent: -50,
    output_markup_percent: null,
  })
  expect(await marginOf('free', { input: '5', output: '5' }, { input: '0', output: '0' })).toEqual({
    input_percent: 100,
    output_percent: 100,
    input_markup_percent: null,
    output_markup_percent: null,
  })
})

test('the margin is the least of the output units, and null if the cost has units that the price lacks', async () => {
  type CreatedView = { offers: readonly { margin: { input_percent: unknown; output_percent: unknown } }[] }
  let made = 0
  const outputMargin = async (kind: string, sale: object, paid: object): Promise<unknown> => {
    const offer = { provider: 'sandbox', model: 'theirs', cost: { input: '1000', output: '0', ...paid } }
    const draft = { id: `sold-${made++}`, kind, price: { input: '2000', output: '0', ...sale }, offers: [offer] }
    const [one] = (await context.call<CreatedView>(operator, 'POST /models', draft)).body.offers
    expect(one?.margin.input_percent).toBe(50)
    return one?.margin.output_percent
  }
  const small = 'image/1024x1024'
  const large = 'image/1536x1024'
  expect(await outputMargin('text', { output: '4000' }, { output: '1000' })).toBe(75)
  expect(await outputMargin('text', { output: '4000' }, { output: '1000', reasoning: '3000' })).toBe(25)
  expect(await outputMargin('text', { output: '0' }, { output: '0' })).toBeNull()
  expect(await outputMargin('image', { image_output: '40' }, { image_output: '8' })).toBe(80)
  const each = (prices: Record<string, string>): object => ({ each: prices })
  expect(
    await outputMargin('image', each({ [small]: '40', [large]: '60' }), each({ [small]: '20', [large]: '45' })),
  ).toBe(25)
  // A unit without a vendor price costs as much as the most expensive one.
  expect(await outputMargin('image', each({ [small]: '40', [large]: '60' }), each({ [small]: '20' }))).toBe(50)
  expect(await outputMargin('image', each({ [small]: '40' }), {})).toBe(100)
  expect(await outputMargin('image', { output: '4000' }, each({ [small]: '40' }))).toBeNull()
})

type SoldView = {
  price: { input: string; cached_input: string; output: string; tiers: readonly { input: string; output: string }[] }
  offers: readonly {
    cost: { input: string; tiers: readonly object[] }
    below_cost: readonly { unit: string; above_input_tokens: number | null; sale: string; cost: string }[]
  }[]
}

test('a price edited in one figure keeps its tiers and its cached price, and so do the costs of its offers', async () => {
  const units = { input: '3', output: '15', cached_input: '1' }
  const above = { 272000: { input: '6', output: '22' } }
  const offer = { provider: 'sandbox', model: 'long', cost: { ...units, above } }
  const made = await context.call<SoldView>(operator, 'POST /models', {
    id: 'long',
    price: { ...units, above },
    offers: [offer],
  })
  expect(made.body.price.tiers).toMatchObject([{ above_input_tokens: 272_000, input: '6', output: '22' }])
  const change = async (body: object): Promise<SoldView> =>
    (await context.call<SoldView>(operator, 'PATCH /models/long', body)).body
  const dearer = await change({ price: { output: '16' } })
  expect(dearer.price).toMatchObject({ input: '3', cached_input: '1', output: '16', tiers: [{ input: '6' }] })
  expect(dearer.offers[0]?.cost.tiers).toHaveLength(1)
  const cost = { input: '4', output: '15' }
  const cheaper = await change({ offers: [{ ...offer, cost }] })
  expect(cheaper.offers[0]).toMatchObject({ cost: { input: '4', tiers: [{ input: '6' }] } })
  expect(cheaper.offers[0]?.below_cost).toEqual([{ unit: 'input', above_input_tokens: null, sale: '3', cost: '4' }])
  // A replaced model also keeps its tiers.
  const replaced = await context.call<SoldView>(operator, 'POST /models', {
    id: 'long',
    price: { input: '5', output: '20' },
    offers: [{ ...offer, cost }],
  })
  expect(replaced.body).toMatchObject({ price: { tiers: [{ input: '6' }] }, offers: [{ cost: { tiers: [{}] } }] })
  const flat = await change({ price: { above: null } })
  expect(flat.price).toMatchObject({ input: '5', tiers: [] })
  expect(flat.offers[0]?.below_cost).toEqual([
    { unit: 'input', above_input_tokens: 272_000, sale: '5', cost: '6' },
    { unit: 'output', above_input_tokens: 272_000, sale: '20', cost: '22' },
  ])
})

test('a price by the piece alone is valid, and a missing price is refused by the name of its field', async () => {
  const offer = { provider: 'sandbox', model: 'pics' }
  const each = { 'image/1024x1024': '40000000' }
  const pics = { id: 'pics', kind: 'image', image: { family: 'gpt-image' }, price: { each }, offers: [offer] }
  expect((await context.call(operator, 'POST /models', pics)).body).toMatchObject({ price: { each, input: '0' } })
  const vectors = { id: 'vectors', kind: 'embedding', price: { input: '5' }, offers: [offer] }
  expect((await context.call(operator, 'POST /models', vectors)).body).toMatchObject({
    price: { input: '5', output: '0' },
  })
  const refused = async (price: object): Promise<unknown> =>
    (await context.call<{ error: unknown }>(operator, 'POST /models', { id: 'no', price, offers: [offer] })).body.error
  expect(await refused({ input: '1' })).toMatchObject({ reason: 'unit_needed', param: 'price.output' })
  expect(await refused({ each })).toMatchObject({ reason: 'unit_needed', param: 'price.input' })
  expect(await refused({ input: '1', output: '1', above: { 9: { input: '1' } } })).toMatchObject({
    reason: 'unit_needed',
    param: 'price.above.9.output',
  })
  expect(await refused({ input: '1', output: '1', above: { many: { input: '1' } } })).toMatchObject({
    reason: 'tokens_above',
  })
})

test('an empty cost is the list price if a list has one, else the sale price', async () => {
  const base = { preset: 'openai', base_url: 'https://o.example.com/v1', key: 'k' }
  await context.call(operator, 'POST /providers', { id: 'listed', ...base })
  const price = { input: '1000000000', output: '4000000000' }
  const offers = ['gpt-5', 'gpt-of-nobody'].map((model) => ({ provider: 'listed', model }))
  const { body } = await context.call<SoldView>(operator, 'POST /models', { id: 'cheap', price, offers })
  expect(body.offers.map(({ cost }) => cost.input)).toEqual(['1250000000', '1000000000'])
  expect(body.offers[0]?.below_cost.map(({ unit }) => unit)).toEqual(['input', 'output'])
  const costly = { ...offers[0], cost: { input: '0', output: '0' } }
  await context.call(operator, 'PATCH /models/cheap', { offers: [costly] })
  const back = await context.call<SoldView>(operator, 'PATCH /models/cheap', { offers: [{ ...offers[0], cost: null }] })
  expect(back.body.offers[0]?.cost).toMatchObject({ input: '1250000000' })
})
