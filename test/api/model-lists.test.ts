/** Model lists in the format of the client, with the SDKs of all three dialects, and embeddings in Google's format. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai-7'
import { chat, startGateway, type TestGateway } from '../support/gateway.ts'

const TEXT = ['a/one', 'two', 'three:latest', 'four', 'five']
const models = [
  ...TEXT.map(
    (id) =>
      `  ${id}: { context_tokens: 1000, output_tokens_max: 100, price: { input: 1, output: 2 }, offers: [{ provider: sandbox, model: sandbox-chat }] }`,
  ),
  '  vectors: { kind: embedding, dimensions: 512, price: { input: 1 }, offers: [{ provider: g, model: small }] }',
  '  plain: { kind: embedding, dimensions: 1536, dimensions_adjustable: true, price: { input: 1 }, offers: [{ provider: sandbox, model: sandbox-embedding-small }] }',
]

type SentBody = { requests: { model: string; content: { parts: { text: string }[] } }[] }
let gateway: TestGateway
let origin: string
let googles: Bun.Server<undefined>
const sent: SentBody[] = []

beforeAll(async () => {
  googles = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as SentBody
      sent.push(body)
      return Response.json({ embeddings: body.requests.map((_, i) => ({ values: [i, 0.5] })) })
    },
  })
  gateway = await startGateway({
    yaml: [
      'sandbox: true',
      'providers:',
      `  g: { preset: gemini, base_url: '${googles.url.origin}/v1beta', allow_private: true, key: 'k' }`,
      `  mine: { preset: deepseek, base_url: '${googles.url.origin}/v1', allow_private: true, key: 'k' }`,
      'models:',
      ...models,
      'aliases: { gpt-two: two }',
      'wildcards: { deep/*: { provider: mine, mark_up: 20% } }',
    ].join('\n'),
  })
  origin = new URL(gateway.baseUrl).origin
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await googles.stop(true)
})

type Json = Record<string, unknown>
const get = async (path: string, headers: Record<string, string>): Promise<{ status: number; body: Json }> => {
  const answer = await fetch(origin + path, { headers })
  return { status: answer.status, body: (await answer.json()) as Json }
}
const openai = (): OpenAI => new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.key })
const anthropic = (): Anthropic => new Anthropic({ baseURL: origin, apiKey: gateway.key, maxRetries: 0 })
const google = (apiVersion: string): GoogleGenAI =>
  new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: origin, apiVersion } })
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)

describe('the list', () => {
  test('is OpenAI’s for OpenAI’s clients', async () => {
    const ids = (await openai().models.list()).data.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining([...TEXT, 'vectors']))
    expect(await openai().models.retrieve('a/one')).toMatchObject({ object: 'model', id: 'a/one' })
  })

  test('has an entry for an alias, which says what it stands for', async () => {
    const one = { id: 'gpt-two', alias_of: 'two' }
    expect((await openai().models.list()).data).toContainEqual(expect.objectContaining(one))
    expect(await openai().models.retrieve('gpt-two')).toMatchObject(one)
    expect(await openai().models.retrieve('two')).not.toHaveProperty('alias_of')
    expect(await anthropic().models.retrieve('gpt-two')).toMatchObject(one)
    const { body } = await get('/v1beta/models/gpt-two', { 'x-goog-api-key': gateway.key })
    expect(body).toMatchObject({ name: 'models/gpt-two', baseModelId: 'two' })
  })

  test('is Anthropic’s for Anthropic’s, page by page in both directions', async () => {
    const all: string[] = []
    for await (const model of anthropic().models.list({ limit: 2 })) {
      expect(model).toMatchObject({ type: 'model', display_name: model.id })
      expect(Date.parse(model.created_at)).not.toBeNaN()
      all.push(model.id)
    }
    const openais = (await openai().models.list()).data.map(({ id }) => id)
    expect(all.toSorted()).toEqual(openais.toSorted())
    const [first = '', second = '', third = '', fourth = ''] = all
    const headers = { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' }
    const page = await get(`/v1/models?limit=2&after_id=${encodeURIComponent(first)}`, headers)
    expect(page.body).toMatchObject({ has_more: true, first_id: second, last_id: third })
    const before = await get(`/v1/models?limit=2&before_id=${encodeURIComponent(fourth)}`, headers)
    expect(before.body).toMatchObject({ has_more: true, first_id: second, last_id: third })
    const start = await get(`/v1/models?limit=5&before_id=${encodeURIComponent(second)}`, headers)
    expect(start.body).toMatchObject({ has_more: false, first_id: first, last_id: first })
    const end = await get(`/v1/models?after_id=${encodeURIComponent(all.at(-1) ?? '')}`, headers)
    expect(end.body).toEqual({ data: [], has_more: false, first_id: null, last_id: null })
    expect(await anthropic().models.retrieve('three:latest')).toMatchObject({ id: 'three:latest', max_tokens: 100 })
  })

  test.each(['v1', 'v1beta', 'v1alpha'])('is Google’s for Google’s, by pages: %s', async (version) => {
    const names: string[] = []
    for await (const { name = '' } of await google(version).models.list({ config: { pageSize: 2 } })) names.push(name)
    const openais = (await openai().models.list()).data.map(({ id }) => `models/${id}`)
    expect(names.toSorted()).toEqual(openais.toSorted())
    const one = await google(version).models.get({ model: 'two' })
    expect(one).toMatchObject({
      name: 'models/two',
      inputTokenLimit: 1_000,
      outputTokenLimit: 100,
      supportedActions: ['generateContent', 'countTokens'],
    })
    expect(await google(version).models.get({ model: 'three:latest' })).toMatchObject({ name: 'models/three:latest' })
  })

  test('is known by any header that only one’s clients send, whatever brings the key', async () => {
    const authorization = `Bearer ${gateway.key}`
    expect((await get('/v1/models', { authorization })).body).toMatchObject({ object: 'list' })
    const messages = { data: expect.any(Array) as object[], has_more: expect.any(Boolean) as boolean }
    expect((await get('/v1/models', { authorization, 'anthropic-version': '2023-06-01' })).body).toMatchObject(messages)
    expect((await get('/v1/models', { 'x-api-key': gateway.key })).body).toMatchObject(messages)
    const gemini = { models: expect.any(Array) as object[] }
    expect((await get('/v1/models', { 'x-goog-api-key': gateway.key })).body).toMatchObject(gemini)
    expect((await get(`/v1/models?key=${gateway.key}`, {})).body).toMatchObject(gemini)
    expect((await get('/v1beta/models', { authorization })).body).toMatchObject(gemini)
  })
})

test('a request by an alias is answered, recorded and priced as one for its model', async () => {
  const { secret } = await gateway.operate<{ secret: string }>('key.create', {
    account: gateway.accountId,
    name: 'by alias',
    models: ['gpt-two'],
  })
  const only = { baseUrl: gateway.baseUrl, key: secret }
  for (const model of ['gpt-two', 'two']) {
    const answer = await chat(only, { model, max_tokens: 1 })
    expect(((await answer.json()) as { model: string }).model).toBe('two')
    const record = await gateway.operate('request.show', { request: answer.headers.get('x-request-id') })
    expect(record).toMatchObject({ model: 'two' })
  }
  const refused = await chat(only, { model: 'five' })
  expect(refused.status).toBe(403)
  const streamed = await chat(only, { model: 'gpt-two', max_tokens: 1, stream: true })
  expect(await streamed.text()).toContain('"model":"two"')
})

test('a wildcard has the listed models of its vendor and no other, also in an allow-list', async () => {
  const { secret } = await gateway.operate<{ secret: string }>('key.create', {
    account: gateway.accountId,
    name: 'wild',
    models: ['deep/*'],
  })
  const { body } = await get('/v1/models', { authorization: `Bearer ${secret}` })
  const ids = (body['data'] as { id: string }[]).map(({ id }) => id)
  expect(ids).toContain('deep/deepseek-chat')
  expect(ids.every((id) => id.startsWith('deep/'))).toBe(true)
  const only = { baseUrl: gateway.baseUrl, key: secret }
  const statusOf = async (model: string): Promise<number> => (await chat(only, { model, max_tokens: 1 })).status
  expect([await statusOf('deep/none'), await statusOf('deep/*'), await statusOf('two')]).toEqual([404, 404, 403])
})

describe('a refusal', () => {
  const error = { type: 'error', error: { type: expect.any(String) as string } }
  const status = { error: { status: expect.any(String) as string } }

  test('is in the same words', async () => {
    const asAnthropic = { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' }
    const asGoogle = { 'x-goog-api-key': gateway.key }
    expect(await get('/v1/models/none', asAnthropic)).toMatchObject({ status: 404, body: error })
    expect(await get('/v1/models/none', asGoogle)).toMatchObject({ status: 404, body: status })
    expect(await get('/v1beta/models/none', asGoogle)).toMatchObject({ status: 404, body: status })
    expect(await get('/v1/models', { 'x-api-key': 'wrong' })).toMatchObject({ status: 401, body: error })
    expect(await get('/v1/models', { 'x-goog-api-key': 'wrong' })).toMatchObject({ status: 401, body: status })
    expect(await get('/v1/files', asAnthropic)).toMatchObject({ status: 404, body: error })
    expect(await get('/v1/files', asGoogle)).toMatchObject({ status: 404, body: status })
    expect(await get('/v1/files', { authorization: `Bearer ${gateway.key}` })).toMatchObject({
      status: 404,
      body: { error: { type: 'invalid_request_error' } },
    })
    // What is OpenAI's alone is refused as OpenAI does, whatever brings the key.
    expect((await get('/v1/responses/resp_none', asAnthropic)).body['type']).toBeUndefined()
  })

  test.each([
    ['limit=0', { limit: true }],
    ['limit=1001', { limit: true }],
    ['limit=x', { limit: true }],
    ['after_id=none', { after_id: true }],
    ['before_id=none', { before_id: true }],
    ['after_id=two&before_id=two', { before_id: true }],
  ])('of a page that is none: %s', async (query) => {
    const answer = await get(`/v1/models?${query}`, { 'x-api-key': gateway.key })
    expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error' } } })
  })

  test.each(['pageSize=x', 'pageSize=-1', 'pageToken=nothing'])('of a page that is none: %s', async (query) => {
    const answer = await get(`/v1beta/models?${query}`, { 'x-goog-api-key': gateway.key })
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
  })

  test('of what is no action is 404, and a list takes no POST', async () => {
    const headers = { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' }
    const post = (path: string): Promise<Response> => fetch(origin + path, { method: 'POST', headers, body: '{}' })
    expect((await post('/v1beta/models/two:predict')).status).toBe(404)
    expect((await post('/v1beta/models')).status).toBe(405)
  })
})

describe('embeddings in Google’s dialect', () => {
  test('by its SDK, before vendors of both dialects', async () => {
    const ai = google('v1beta').models
    const config = { taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 3 }
    const { embeddings = [] } = await ai.embedContent({ model: 'plain', contents: ['one', 'two'], config })
    expect(embeddings.map(({ values = [] }) => values.length)).toEqual([3, 3])
    sent.length = 0
    const many = Array.from({ length: 150 }, (_, i) => `text ${i}`)
    const title = { taskType: 'RETRIEVAL_DOCUMENT', title: 'a title' }
    const answer = await ai.embedContent({ model: 'vectors', contents: many, config: title })
    expect(answer.embeddings?.map(({ values }) => values?.[0])).toEqual(many.map((_, i) => i % 100))
    expect(sent.map(({ requests }) => requests.length)).toEqual([100, 50])
    expect(sent[1]?.requests[0]).toEqual({
      model: 'models/small',
      content: { parts: [{ text: 'text 100' }] },
      ...title,
    } as never)
  })

  const post = async (action: string, body: object, model = 'plain'): Promise<{ answer: Response; body: Json }> => {
    const answer = await fetch(`${origin}/v1beta/models/${model}:${action}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { answer, body: (await answer.json()) as Json }
  }
  const content = { parts: [{ text: 'one' }, { text: 'two' }] }

  test('of one content; what another dialect is not told is named', async () => {
    const { answer, body } = await post('embedContent', {
      content,
      output_dimensionality: '4',
      task_type: 'CLUSTERING',
      other: 1,
    })
    expect([answer.status, answer.headers.get('x-tollgate-dropped')]).toEqual([200, 'other, taskType'])
    expect(body).toMatchObject({ usageMetadata: { promptTokenCount: expect.any(Number) as number } })
    expect((body['embedding'] as { values: number[] }).values).toHaveLength(4)
  })

  test.each([
    ['no content', 'embedContent', {}],
    ['no text', 'embedContent', { content: { parts: [{ text: '' }] } }],
    ['a picture', 'embedContent', { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } }],
    ['too many dimensions', 'embedContent', { content, outputDimensionality: 99_999_999 }],
    ['another model', 'embedContent', { content, model: 'models/vectors' }],
    ['no requests', 'batchEmbedContents', { requests: [] }],
    ['several sizes', 'batchEmbedContents', { requests: [{ content, outputDimensionality: 2 }, { content }] }],
    ['two spellings', 'embedContent', { content, taskType: 'A', task_type: 'B' }],
  ])('refuses %s', async (_, action, body) => {
    const refused = await post(action, body)
    expect(refused.answer.status).toBe(400)
    expect(refused.body).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } })
  })

  test('is for models of its kind, and content for the others', async () => {
    expect(await caught(google('v1beta').models.embedContent({ model: 'two', contents: 'x' }))).toMatchObject({
      status: 400,
    })
    expect((await post('generateContent', { contents: [content] })).answer.status).toBe(400)
    expect((await post('embedContent', { content }, 'none')).answer.status).toBe(404)
  })
})

test('health is answered without a key', async () => {
  expect(await get('/health', {})).toEqual({ status: 200, body: { status: 'ok' } })
  expect((await fetch(`${origin}/health`, { method: 'POST' })).status).toBe(405)
})
