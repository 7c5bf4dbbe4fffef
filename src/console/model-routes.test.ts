import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openConsole, type Caller, type TestConsole } from '../../test/support/console.ts'

let desk: TestConsole
let operator: Caller
beforeAll(async () => {
  desk = await openConsole()
  operator = await desk.as('operator')
})
afterAll(() => desk.close())

type Shown = { takes_pictures: boolean; dimensions_adjustable: boolean; video: Record<string, unknown> | null }
const offers = [{ provider: 'sandbox', model: 'theirs' }]
const price = { input: '1', output: '1' }

test('what a model cannot do it can be said to do again, and what is not said stays', async () => {
  await desk.call(operator, 'POST /models', { id: 'plain', price, offers, pictures: false })
  const change = async (body: object): Promise<Shown> =>
    (await desk.call<Shown>(operator, 'PATCH /models/plain', body)).body
  expect(await change({ context_tokens: 9 })).toMatchObject({ takes_pictures: false })
  expect(await change({ pictures: true })).toMatchObject({ takes_pictures: true, context_tokens: 9 })
  expect(await change({ pictures: false, dimensions_adjustable: true })).toMatchObject({ takes_pictures: false })
  expect(await change({ dimensions_adjustable: false })).toMatchObject({ dimensions_adjustable: false })
})

test('who enlarges videos is told to operators; whether somebody does, to whoever pays', async () => {
  const film = { id: 'film', kind: 'video', price: { ...price, each: { second: '1' } }, offers }
  const made = await desk.call<Shown>(operator, 'POST /models', { ...film, video: { upscaler: 'sandbox' } })
  expect(made.body.video).toMatchObject({ upscaler: 'sandbox', upscales: true })
  const path = `GET /accounts/${desk.accountId}/models/film`
  const { video } = (await desk.call<Shown>(await desk.as('owner'), path)).body
  expect(video).toMatchObject({ upscales: true })
  expect(video).not.toHaveProperty('upscaler')
})

test('what is paid by the piece leaves no margin that tokens could tell', async () => {
  type Made = { offers: readonly { margin: object }[] }
  const marginOf = async (id: string, cost: object): Promise<object | undefined> => {
    const sale = { kind: 'image', price: { input: '2000', output: '4000' } }
    const draft = { id, ...sale, offers: [{ provider: 'sandbox', model: 'theirs', cost }] }
    const { body } = await desk.call<Made>(operator, 'POST /models', draft)
    return body.offers[0]?.margin
  }
  const tokens = { input: '1000', output: '1000' }
  expect(await marginOf('by-tokens', tokens)).toEqual({ input_percent: 50, output_percent: 75 })
  const pieces = { input: '1000', output: '0', each: { 'image/1024x1024': '40000000' } }
  expect(await marginOf('by-pieces', pieces)).toEqual({ input_percent: 50, output_percent: null })
})
