/** Null removes a setting that has a default, and is refused elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openConsole, type Caller, type TestConsole } from '../../test/support/console.ts'
import { defaultModelLimits, type ModelLimits } from '../domain/model-limits.ts'
import { imageFamilies } from '../vendors/image-families.ts'
import { videoFamilies } from '../vendors/video-families.ts'
import { modelLimitChanges, modelLimitFields, modelLimitsOf } from '../vendors/model-limits.ts'

let context: TestConsole
let operator: Caller
beforeAll(async () => {
  context = await openConsole()
  operator = await context.as('operator')
})
afterAll(() => context.close())

const offers = [{ provider: 'sandbox', model: 'theirs' }]
const price = { input: '1000', output: '3000' }

/** Every limit, away from its default. */
const said = {
  image: { family: 'dall-e-3' },
  video: { family: 'seedance-2', upscaler: 'sandbox' },
  dimensions: 256,
  dimensions_adjustable: true,
  context_tokens: 9_000,
  output_tokens_max: 900,
  output_tokens_default: 90,
  output_tokens_min: 9,
  hidden_reasoning: true,
  image_tokens_max: 99,
  pictures: false,
  first_event_timeout_ms: 999,
  routing: 'latency',
  sticky: 'off',
  requests_per_minute: 60,
  tokens_per_minute: 6_000,
  concurrent_requests: 6,
  answer_cache_seconds: 99,
  hedging: 'on',
}

describe('limits of a model', () => {
  const limitsOf = (id: string): ModelLimits | undefined => context.gateway.services.catalog.model(id)?.limits

  test('each goes back to its default, alone, on the disk too', async () => {
    expect(Object.keys(said)).toEqual(Object.keys(modelLimitFields))
    expect(Object.keys(modelLimitChanges)).toEqual(Object.keys(modelLimitFields))
    await context.call(operator, 'POST /models', { id: 'limited', price, offers, ...said })
    const full = limitsOf('limited')
    for (const name of Object.keys(said)) {
      const [[limit] = []] = Object.entries(modelLimitsOf({ [name]: null }))
      const back = limit as keyof ModelLimits
      expect(full?.[back]).not.toEqual(defaultModelLimits[back])
      const changed = await context.call(operator, 'PATCH /models/limited', { [name]: null })
      expect([name, changed.status]).toEqual([name, 200])
      expect(limitsOf('limited')).toEqual({ ...full, [back]: defaultModelLimits[back] } as ModelLimits)
      await context.call(operator, 'PATCH /models/limited', { [name]: said[name as keyof typeof said] })
      expect(limitsOf('limited')).toEqual(full as ModelLimits)
    }
    const all = Object.fromEntries(Object.keys(said).map((name) => [name, null]))
    await context.call(operator, 'PATCH /models/limited', all)
    const [row] = await context.gateway.store.query("SELECT limits FROM model WHERE id = 'limited'")
    expect({ ...defaultModelLimits, ...JSON.parse(String(row?.['limits'])) }).toEqual(defaultModelLimits)
  })

  test('capabilities of images and videos go back to the defaults, and the answers show it', async () => {
    const each = { 'image/1024x1024': '40000000' }
    const picture = { id: 'painter', kind: 'image', price: { ...price, each }, offers, image: said.image }
    await context.call(operator, 'POST /models', picture)
    const open = await context.call(operator, 'PATCH /models/painter', { image: null })
    expect(open.body['image']).toEqual(JSON.parse(JSON.stringify(imageFamilies.open)))
    const film = { id: 'film', kind: 'video', price: { ...price, each: { second: '1' } }, offers, video: said.video }
    await context.call(operator, 'POST /models', film)
    const plain = await context.call(operator, 'PATCH /models/film', { video: null })
    expect(plain.body['video']).toMatchObject({ upscales: false, resolutions: [...videoFamilies.open.resolutions] })
  })

  test('the audit log shows what was removed', async () => {
    type Entry = { action: string; before: { video?: object }; after: object }
    const newest = async (subject: string): Promise<Entry | undefined> => {
      const { body } = await context.call<{ data: Entry[] }>(operator, `GET /audit?subject=${subject}`)
      return body.data[0]
    }
    await context.call(operator, 'POST /models', { id: 'audited', price, offers, output_tokens_max: 900 })
    await context.call(operator, 'PATCH /models/audited', { output_tokens_max: null })
    expect(await newest('audited')).toMatchObject({
      action: 'model.change',
      input: { output_tokens_max: null },
      before: { limits: { output_tokens_max: 900 } },
      after: { limits: { output_tokens_max: null } },
    })
    const film = { id: 'filmed', kind: 'video', price: { ...price, each: { second: '1' } }, offers, video: said.video }
    await context.call(operator, 'POST /models', film)
    await context.call(operator, 'PATCH /models/filmed', { video: null })
    const entry = await newest('filmed')
    expect(entry?.before.video).toMatchObject({ upscaler: 'sandbox' })
    expect(entry?.after).toHaveProperty('video')
    expect(entry?.after).not.toHaveProperty('video.upscaler')
  })
})

test('an offer costs the sale price again, from this change on', async () => {
  type CreatedView = { offers: readonly { cost: { input: string; output: string; cached_input: string } }[] }
  const [offer] = offers
  const dear = { ...offer, cost: { input: '7000', output: '9000' } }
  await context.call(operator, 'POST /models', { id: 'costly', price, offers: [dear] })
  const change = async (body: object): Promise<unknown> =>
    (await context.call<CreatedView>(operator, 'PATCH /models/costly', body)).body.offers[0]?.cost
  expect(await change({ offers })).toMatchObject(dear.cost)
  expect(await change({ offers: [{ ...offer, cost: null }] })).toMatchObject(price)
  const sale = { input: '4000', output: '5000', cached_input: '400' }
  expect(await change({ price: sale, offers: [{ ...offer, cost: null }] })).toMatchObject(sale)
})

describe('a provider', () => {
  type ShownView = { base_url: string; has_key: boolean }
  const change = (id: string, body: object) => context.call<ShownView>(operator, `PATCH /providers/${id}`, body)
  const secretOf = (id: string): string | undefined => context.gateway.services.catalog.provider(id)?.secret

  test('loses its key, and nothing else', async () => {
    await context.call(operator, 'POST /providers', { id: 'groq', key: 'gsk-nobody-calls' })
    expect((await change('groq', {})).body).toMatchObject({ has_key: true })
    const { body } = await change('groq', { key: null })
    expect(body).toMatchObject({ base_url: 'https://api.groq.com/openai/v1', has_key: false })
    expect(secretOf('groq')).toBeUndefined()
  })

  test('goes back to the address of its preset if there is one, without the key for another address', async () => {
    const own = { id: 'mistral', key: 'nobody-calls', base_url: 'https://mirror.example.com/v1' }
    await context.call(operator, 'POST /providers', own)
    const refused = await change('mistral', { base_url: null })
    expect([refused.status, secretOf('mistral')]).toEqual([400, 'nobody-calls'])
    const { body } = await change('mistral', { base_url: null, key: null })
    expect(body).toMatchObject({ base_url: 'https://api.mistral.ai/v1', has_key: false })
    await context.call(operator, 'POST /providers', { id: 'plain', base_url: 'https://models.example.com/v1' })
    const nowhere = await change('plain', { base_url: null })
    expect(nowhere.body).toMatchObject({ error: { message: expect.stringContaining('base_url') } })
    expect(context.gateway.services.catalog.provider('plain')?.baseUrl).toBe('https://models.example.com/v1')
  })
})

test('limits, models and the warning of an account and a key are lifted one by one', async () => {
  const limits = {
    requests_per_minute: 1,
    tokens_per_minute: 2,
    concurrent_requests: 3,
    spend_per_day_nano_usd: '4',
    spend_per_month_nano_usd: '5',
  }
  const account = `/accounts/${context.accountId}`
  await context.call(operator, 'POST /models', { id: 'a', price, offers })
  const key = await context.call<{ id: string }>(operator, `POST ${account}/keys`, { name: 'k', models: ['a'], limits })
  await context.call(operator, `PATCH ${account}`, { models: ['a'], limits })
  for (const path of [account, `${account}/keys/${key.body.id}`]) {
    for (const name of Object.keys(limits)) {
      const { body } = await context.call(operator, `PATCH ${path}`, { limits: { [name]: null } })
      expect(body).toMatchObject({ models: ['a'], limits: { [name]: null } })
      await context.call(operator, `PATCH ${path}`, { limits })
    }
    expect((await context.call(operator, `PATCH ${path}`, { models: null })).body).toMatchObject({
      models: null,
      limits,
    })
  }
  const low = (threshold: string | null) =>
    context.call(operator, `PUT ${account}/low-balance`, { threshold_nano_usd: threshold })
  expect((await low('5')).body).toMatchObject({ low_balance_nano_usd: '5' })
  expect((await low(null)).body).toMatchObject({ low_balance_nano_usd: null })
})

test('null without a meaning is refused by the name of its field, and changes nothing', async () => {
  const account = `/accounts/${context.accountId}`
  const key = await context.call<{ id: string }>(operator, `POST ${account}/keys`, { name: 'named' })
  const mine = await context.call<{ id: string }>(operator, 'POST /saved-views', { name: 'mine', query: '' })
  const video = { id: 'reel', kind: 'video', price: { ...price, each: { second: '1' } }, offers, video: said.video }
  await context.call(operator, 'POST /models', video)
  await context.call(operator, 'POST /providers', {
    id: 'cohere',
    preset: 'custom',
    base_url: 'https://c.example.com/v1',
  })
  const refused: Record<string, readonly [field: string, body: object][]> = {
    '/models/reel': [
      ['price', { price: null }],
      ['offers', { offers: null }],
      ['offers.0.weight', { offers: [{ ...offers[0], weight: null }] }],
      // The value is taken as a whole. What it leaves out is the family's already.
      ['video.upscaler', { video: { family: 'seedance-2', upscaler: null } }],
    ],
    [account]: [
      ['status', { status: null }],
      ['limits', { limits: null }],
    ],
    [`${account}/keys/${key.body.id}`]: [
      ['name', { name: null }],
      ['limits', { limits: null }],
    ],
    '/providers/cohere': [
      ['preset', { preset: null }],
      ['allow_private', { allow_private: null }],
    ],
    [`/users/${context.ids.member}`]: [
      ['role', { role: null }],
      ['status', { status: null }],
    ],
    [`/saved-views/${mine.body.id}`]: [['name', { name: null }]],
  }
  for (const [path, wishes] of Object.entries(refused)) {
    const read = async (): Promise<unknown> =>
      path.startsWith('/users') || path.startsWith('/saved')
        ? (await context.call(operator, `GET /${path.split('/')[1]}`)).body
        : (await context.call(operator, `GET ${path}`)).body
    const before = await read()
    for (const [field, body] of wishes) {
      const { status, body: answer } = await context.call(operator, `PATCH ${path}`, body)
      const message = `${field}: must have a value: null means nothing here`
      const said = { reason: 'null_refused', facts: {}, message }
      expect({ path, status, answer }).toEqual({
        path,
        status: 400,
        answer: { error: { ...said, type: 'invalid_request_error', param: field, code: 'invalid_value' } },
      })
    }
    expect(await read()).toEqual(before)
  }
})
