import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI6 from 'openai-6'
import OpenAI7 from 'openai-7'
import { createOpenAI } from '@ai-sdk/openai'
import { cosineSimilarity, embedMany } from 'ai'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'

type ReceivedBody = { path: string; body: Record<string, unknown> }
let sandbox: TestSandbox
let gateway: TestGateway
let odd: Bun.Server<undefined>
const asked: ReceivedBody[] = []

const vector = (text: string): number[] => [text.length, 3, 4]

/** A vendor with manners of its own, by the name of the model. */
function oddVendor(body: Record<string, unknown>): unknown {
  const input = [body['input']].flat() as string[]
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vector(text) }))
  if (body['model'] === 'backwards') return { data: data.toReversed(), usage: { prompt_tokens: 7, total_tokens: 7 } }
  if (body['model'] === 'short') return { data: data.slice(1), usage: { prompt_tokens: 7 } }
  if (body['model'] === 'nonsense') return { data: data.map((one) => ({ ...one, embedding: ['a'] })) }
  if (body['model'] === 'failing') return { error: { message: 'no', code: 'server_error' } }
  return { data } // no usage
}

const SECRET = 'picky-secret-1234'

/** One that takes a hundred texts at once, and some not at all. */
async function picky({ requests }: Record<string, unknown>, path: string): Promise<Response> {
  const texts = (requests as { content: { parts: { text: string }[] } }[]).map(
    ({ content }) => content.parts[0]?.text ?? '',
  )
  const [, provider, upstreamModel] = /^\/(\w+)\/.*?([\w-]+):batchEmbedContents$/.exec(path) ?? []
  const refused = (message: string, status = 400): Response =>
    Response.json({ error: { code: status, status: 'INVALID_ARGUMENT', message } }, { status })
  if (texts.some((text) => text.endsWith('slowly'))) await Bun.sleep(400)
  if (texts.includes('stall')) await Bun.sleep(3_000)
  if (texts.some((text) => text.startsWith('break') && !text.startsWith('break one'))) return refused('Internal.', 500)
  if (texts.includes('break one slowly') && provider !== 'dear') return refused('Internal.', 500)
  if (texts.includes('not dear') && provider === 'dear') return refused('Not here.')
  if (texts.includes('hide')) return Response.json({ error: { code: 400, message: 'Hidden.' } })
  if (texts.includes('tell')) return refused(`Not with ${SECRET} at 127.0.0.1:${odd.port} for ${upstreamModel}`)
  if (texts.some((text) => text.startsWith('refuse me'))) return refused('There is a text that cannot be embedded.')
  return Response.json({ embeddings: texts.map((text) => ({ values: vector(text) })) })
}

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  odd = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as Record<string, unknown>
      const { pathname } = new URL(request.url)
      asked.push({ path: decodeURIComponent(pathname), body })
      return pathname.endsWith(':batchEmbedContents') ? picky(body, pathname) : Response.json(oddVendor(body))
    },
  })
  const oddModels = ['backwards', 'short', 'nonsense', 'failing', 'no-usage'].map(
    (id) =>
      `  ${id}: { kind: embedding, price: { input: 1 }, dimensions: 3, offers: [{ provider: odd, model: ${id} }] }`,
  )
  gateway = await startGateway({
    yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
  odd: { base_url: 'http://127.0.0.1:${odd.port}/v1', allow_private: true }
  picky: { preset: gemini, base_url: 'http://127.0.0.1:${odd.port}/v1beta', allow_private: true, key: ${SECRET} }
  dear: { preset: gemini, base_url: 'http://127.0.0.1:${odd.port}/dear', allow_private: true, key: k, hang_up: bills_on }
models:
  small:
    { kind: embedding, price: { input: 1 }, dimensions: 1536, dimensions_adjustable: true, offers: [{ provider: vendor, model: sandbox-embedding-small }] }
  fixed:
    { kind: embedding, price: { input: 1 }, dimensions: 3072, offers: [{ provider: vendor, model: sandbox-embedding }] }
  picky:
    { kind: embedding, price: { input: 1 }, dimensions: 3, offers: [{ provider: picky, model: their-picky }] }
  dear:
    { kind: embedding, price: { input: 1 }, dimensions: 3, offers: [{ provider: dear, model: their-picky }] }
  twice:
    kind: embedding
    price: { input: 1 }
    offers: [{ provider: picky, model: their-picky }, { provider: dear, model: their-picky, priority: 1 }]
  rescued:
    kind: embedding
    price: { input: 1 }
    offers: [{ provider: odd, model: failing }, { provider: vendor, model: sandbox-embedding-small, priority: 1 }]
${oddModels.join('\n')}
`,
  })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
  await odd.stop(true)
}, 30_000)

type List = {
  object: string
  model: string
  data: { object: string; index: number; embedding: number[] | string }[]
  usage: { prompt_tokens: number; total_tokens: number }
}

const post = (body: object): Promise<Response> =>
  fetch(`${gateway.baseUrl}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const embed = async (body: object): Promise<List> => (await (await post(body)).json()) as List
async function refusal(body: object): Promise<object> {
  const response = await post(body)
  return { status: response.status, ...((await response.json()) as { error: object }).error }
}
const lastRecord = async (): Promise<Record<string, string>> =>
  (await gateway.operate<Record<string, string>[]>('request.list', { account: gateway.accountId, limit: 1 }))[0] ?? {}

describe('with the clients people use', () => {
  const models = { baseURL: '', apiKey: '' }
  beforeAll(() => Object.assign(models, { baseURL: gateway.baseUrl, apiKey: gateway.key }))

  test.each([
    ['openai 6', OpenAI6],
    ['openai 7', OpenAI7],
  ] as const)('%s asks for base64 unseen and gets its numbers', async (_, Client) => {
    const client = new Client(models)
    const { data, usage, model } = await client.embeddings.create({
      model: 'small',
      input: ['a cat', 'a dog', 'a cat'],
    })
    expect(model).toBe('small')
    expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([0, 1, 2].map((i) => [i, 1536]))
    expect(data[0]?.embedding).toEqual(data[2]?.embedding ?? [])
    expect(Math.hypot(...(data[0]?.embedding ?? []))).toBeCloseTo(1, 5)
    expect(usage.prompt_tokens).toBeGreaterThan(3)
    const plain = await client.embeddings.create({ model: 'small', input: 'a cat', encoding_format: 'float' })
    expect(plain.data[0]?.embedding[7]).toBeCloseTo(data[0]?.embedding[7] ?? Number.NaN, 7)
  })

  test('the AI SDK finds what is near', async () => {
    const provider = createOpenAI(models)
    const values = ['the lighthouse keeper at dusk', 'a lighthouse in the evening', 'quarterly tax returns']
    const { embeddings } = await embedMany({ model: provider.textEmbeddingModel('small'), values })
    const [a = [], b = [], c = []] = embeddings
    expect(cosineSimilarity(a, b)).toBeGreaterThan(cosineSimilarity(a, c) + 0.15)
  })
})

describe('what is asked for comes', () => {
  test('float and base64 say the same, whatever the upstream answers', async () => {
    for (const model of ['small', 'backwards']) {
      const numbers = await embed({ model, input: ['one', 'three'], encoding_format: 'float' })
      const packed = await embed({ model, input: ['one', 'three'], encoding_format: 'base64' })
      for (const [i, { embedding }] of packed.data.entries()) {
        const bytes = Buffer.from(embedding as string, 'base64')
        const read = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
        const expected = numbers.data[i]?.embedding as number[]
        expect(read.map(Math.fround)).toEqual(expected.map(Math.fround))
      }
    }
  })

  test('in the order of the inputs', async () => {
    const { data } = await embed({ model: 'backwards', input: ['a', 'bb', 'ccc'] })
    expect(data).toEqual([1, 2, 3].map((n, index) => ({ object: 'embedding', index, embedding: [n, 3, 4] })))
  })

  test('token arrays, one and several, count as what they are', async () => {
    const one = await embed({ model: 'small', input: [1, 2, 3] })
    expect([one.data.length, one.usage]).toEqual([1, { prompt_tokens: 3, total_tokens: 3 }])
    const two = await embed({ model: 'small', input: [[1, 2, 3], [4]] })
    expect([two.data.length, two.usage.prompt_tokens]).toEqual([2, 4])
    expect(two.data[0]?.embedding).toEqual(one.data[0]?.embedding ?? [])
  })

  test('fewer dimensions where the model has them, of unit length', async () => {
    const { data } = await embed({ model: 'small', input: 'hello there', dimensions: 256 })
    const [{ embedding } = { embedding: [] }] = data
    expect(embedding).toHaveLength(256)
    expect(Math.hypot(...(embedding as number[]))).toBeCloseTo(1, 5)
    expect(await refusal({ model: 'fixed', input: 'x', dimensions: 256 })).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'dimensions',
    })
    expect(await refusal({ model: 'small', input: 'x', dimensions: 4000 })).toMatchObject({ param: 'dimensions' })
    expect((await embed({ model: 'fixed', input: 'x', dimensions: 3072 })).data[0]?.embedding).toHaveLength(3072)
  })
})

describe('the bill', () => {
  test('is what the upstream reports, input only, and the record says so', async () => {
    const { usage } = await embed({ model: 'small', input: 'to be charged' })
    const record = await lastRecord()
    expect(record).toMatchObject({ endpoint: 'embeddings', usage_source: 'reported', output_text: '0' })
    expect(record['charged']).toBe(String(usage.total_tokens * 1_000))
  })

  test('is counted where nothing is reported, and marked', async () => {
    const response = await post({ model: 'no-usage', input: ['The quick brown fox', 'jumps'] })
    const { usage } = (await response.json()) as List
    expect(usage.prompt_tokens).toBeWithin(4, 9)
    expect(response.headers.get('x-tollgate-usage')).toBe('estimated')
    expect(await lastRecord()).toMatchObject({ usage_source: 'estimated', charged: String(usage.total_tokens * 1_000) })
  })

  test('is nothing when what came is no answer', async () => {
    for (const model of ['short', 'nonsense', 'failing']) {
      expect(await refusal({ model, input: ['a', 'b'] })).toMatchObject({ status: 502, code: 'upstream_error' })
      expect(await lastRecord()).toMatchObject({ outcome: 'failed', charged: '0' })
    }
    expect((await embed({ model: 'rescued', input: 'a' })).data).toHaveLength(1)
  })
})

type Sending = { readonly model?: string; readonly key?: string; readonly once?: string; readonly leaveMs?: number }

/** Sends inputs to the vendor of a hundred at once. */
const sent = (
  input: readonly string[],
  { model = 'picky', key = gateway.key, once, leaveMs }: Sending = {},
): Promise<Response> =>
  fetch(`${gateway.baseUrl}/embeddings`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(once === undefined ? {} : { 'idempotency-key': once }),
    },
    body: JSON.stringify({ model, input }),
    signal: leaveMs === undefined ? null : AbortSignal.timeout(leaveMs),
  })
const exchanges = (): number => asked.filter(({ path }) => path.endsWith('their-picky:batchEmbedContents')).length
const good = Array.from({ length: 250 }, () => 'embed this')
const balance = async (): Promise<string> =>
  (await gateway.operate<{ available_usd: string }>('account.show', { account: gateway.accountId })).available_usd
/** What so many of the good inputs cost where they are answered. */
async function costOf(inputs: readonly string[]): Promise<string> {
  const { usage } = (await (await sent(inputs)).json()) as List
  return String(usage.prompt_tokens * 1_000)
}
const abandoned = async (pending: Promise<Response>): Promise<void> =>
  expect(
    await pending.then(
      () => 'answered',
      () => 'left',
    ),
  ).toBe('left')
async function recordSince(id: string | undefined): Promise<Record<string, string>> {
  for (let i = 0; i < 300; i++) {
    const record = await lastRecord()
    if (record['id'] !== id) return record
    await Bun.sleep(20)
  }
  throw new Error('there is no new record')
}

describe('a text that the vendor refuses', () => {
  test('costs nothing in the first exchange', async () => {
    const before = exchanges()
    const answer = await sent(['refuse me', ...good])
    expect([answer.status, answer.headers.get('x-tollgate-cost-usd')]).toEqual([400, null])
    expect(exchanges() - before).toBe(1)
    expect(await lastRecord()).toMatchObject({ outcome: 'failed', status: '400', charged: '0', usage_source: null })
  })

  test.each(['refuse me', 'hide'])(
    'in a later one (%s) costs those that were embedded before it: nobody has a vendor work for nothing',
    async (bad) => {
      const before = exchanges()
      const answer = await sent([...good, bad, ...good])
      expect(answer.status).toBe(400)
      const { error } = (await answer.json()) as { error: { message: string } }
      expect(error.message).toEndWith('. The first 200 inputs were embedded, and are charged.')
      expect(exchanges() - before).toBe(3)
      const record = await lastRecord()
      expect(record).toMatchObject({ outcome: 'cut', status: '400', usage_source: 'estimated' })
      expect(record['charged']).toBe(await costOf(good.slice(0, 200)))
      expect(record['upstream_cost']).toBe(record['charged'])
      expect(Number(answer.headers.get('x-tollgate-cost-usd')) * 1e9).toBeCloseTo(Number(record['charged']), 0)
      expect(answer.headers.get('x-tollgate-usage')).toBe('estimated')
      expect(Number(answer.headers.get('x-tollgate-held-usd'))).toBeGreaterThan(0)
    },
  )

  test('is told again, and paid once, with an Idempotency-Key', async () => {
    const rich = await balance()
    const first = await sent([...good, 'refuse me'], { once: 'refused-late' })
    const [before, paid] = [exchanges(), await balance()]
    expect(Number(paid)).toBeLessThan(Number(rich))
    const again = await sent([...good, 'refuse me'], { once: 'refused-late' })
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([400, 'true'])
    for (const name of ['content-type', 'x-tollgate-cost-usd', 'x-tollgate-attempts']) {
      expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name) ?? 'nothing'])
    }
    expect(await again.text()).toBe(await first.text())
    expect([exchanges(), await balance()]).toEqual([before, paid])
  })

  test('is told in words that name nothing of ours', async () => {
    const answer = await sent([...good, 'tell'], { once: 'told-late' })
    const { error } = (await answer.json()) as { error: { message: string } }
    expect(error.message).toBe(
      'Not with [redacted] at [upstream] for picky. The first 200 inputs were embedded, and are charged.',
    )
    expect(await (await sent([...good, 'tell'], { once: 'told-late' })).json()).toEqual({ error } as never)
  })

  test.each([{ once: 'left-early' }, { model: 'dear' }])(
    'costs as much when its client does not wait for it, and the vendor works on all the same: %j',
    async (how) => {
      const [{ id }, before] = [await lastRecord(), exchanges()]
      await abandoned(sent([...good, 'refuse me slowly'], { ...how, leaveMs: 200 }))
      const record = await recordSince(id)
      expect(exchanges() - before).toBe(3)
      expect(record).toMatchObject({ outcome: 'client_closed', status: '499', error_code: null })
      expect(record['charged']).toBe(await costOf(good.slice(0, 200)))
      if (!how.once) return
      const again = await sent([...good, 'refuse me slowly'], how)
      expect([again.status, exchanges() - before]).toEqual([400, 5])
    },
  )

  test('is no charge where the vendor fails by its own doing, with another offer or without', async () => {
    expect((await sent([...good, 'break'])).status).toBe(502)
    expect(await lastRecord()).toMatchObject({ outcome: 'failed', charged: '0' })
    // The first vendor answers two parts and fails at the third; the second refuses the first part.
    const before = exchanges()
    expect((await sent(['not dear', ...good, 'break'], { model: 'twice' })).status).toBe(400)
    expect(exchanges() - before).toBe(4)
    expect(await lastRecord()).toMatchObject({ outcome: 'failed', status: '400', charged: '0' })
  })
})

describe('a client that leaves while the vendor works', () => {
  test('pays the input, and nobody is told of an error of ours', async () => {
    const { id } = await lastRecord()
    await abandoned(sent(['stall'], { leaveMs: 150 }))
    const record = await recordSince(id)
    expect(record).toMatchObject({ outcome: 'client_closed', status: '499', usage_source: 'estimated' })
    expect(Number(record['charged'])).toBeGreaterThan(0)
    expect(gateway.output()).not.toContain('edge.internal')
  })

  test('pays what was sent of a batch, not what was not', async () => {
    const { id } = await lastRecord()
    const texts = [...good.slice(0, 150), 'stall', ...good]
    await abandoned(sent(texts, { leaveMs: 300 }))
    const { charged } = await recordSince(id)
    expect(charged).toBe(await costOf([...good.slice(0, 150), 'small', ...good.slice(0, 49)]))
  })

  test('pays what was answered, whatever the vendor does behind its back', async () => {
    const { id } = await lastRecord()
    await abandoned(sent([...good, 'break slowly'], { model: 'dear', leaveMs: 200 }))
    const record = await recordSince(id)
    expect(record).toMatchObject({ outcome: 'client_closed', status: '499' })
    expect(record['charged']).toBe(await costOf(good.slice(0, 200)))
  })

  test('pays nothing with an Idempotency-Key where the vendor fails, and may ask again', async () => {
    const { id } = await lastRecord()
    await abandoned(sent([...good, 'break slowly'], { once: 'broken-late', leaveMs: 200 }))
    expect(await recordSince(id)).toMatchObject({ outcome: 'client_closed', status: '499', charged: '0' })
    const before = exchanges()
    expect((await sent([...good, 'break slowly'], { once: 'broken-late' })).status).toBe(502)
    expect(exchanges() - before).toBe(3)
  })

  test('is served by another vendor with an Idempotency-Key, and gets that answer when it comes back', async () => {
    const [{ id }, how] = [await lastRecord(), { model: 'twice', once: 'failed-over' }]
    await abandoned(sent([...good, 'break one slowly'], { ...how, leaveMs: 200 }))
    expect(await recordSince(id)).toMatchObject({ outcome: 'client_closed', upstream_model: 'their-picky' })
    const before = exchanges()
    const again = await sent([...good, 'break one slowly'], how)
    expect([again.status, ((await again.json()) as List).data.length, exchanges()]).toEqual([200, 251, before])
  })

  test('as one does whose key is revoked meanwhile, who is told why', async () => {
    const made = await gateway.operate<{ id: string; secret: string }>('key.create', {
      account: gateway.accountId,
      name: 'to be revoked',
    })
    const pending = sent(['stall'], { key: made.secret })
    await Bun.sleep(200)
    await gateway.operate('key.revoke', { key: made.id })
    const answer = await pending
    expect(answer.status).toBe(401)
    expect(((await answer.json()) as { error: object }).error).toMatchObject({ code: 'invalid_api_key' })
    const record = await lastRecord()
    expect(record).toMatchObject({ outcome: 'barred', status: '401' })
    expect(Number(record['charged'])).toBeGreaterThan(0)
  })
})

describe('what is refused', () => {
  test.each([
    [{ input: 'x' }, 'model'],
    [{ model: 'small' }, 'input'],
    [{ model: 'small', input: '' }, 'input'],
    [{ model: 'small', input: [] }, 'input'],
    [{ model: 'small', input: ['a', 3] }, 'input'],
    [{ model: 'small', input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
    [{ model: 'small', input: 'x', encoding_format: 'int8' }, 'encoding_format'],
    [{ model: 'small', input: 'x', dimensions: 0 }, 'dimensions'],
    [{ model: 'small', input: 'x', Model: 'fixed' }, 'Model'],
    [{ model: 'small', input: 'x', service_tier: 'priority' }, 'service_tier'],
    [{ model: 'small', input: [[1], []] }, 'input'],
    [{ model: 'small', input: [1, 'a'] }, 'input'],
  ])('%j', async (body, param) => {
    expect(await refusal(body)).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: expect.stringMatching(param),
    })
  })

  test.each([
    [{ input: null }, 'missing_required_parameter', 'input'],
    [{ input: 3 }, 'invalid_type', 'input'],
    [{ input: {} }, 'invalid_type', 'input'],
    [{ input: [null] }, 'invalid_type', 'input[0]'],
    [{ input: ['a', 3] }, 'invalid_type', 'input[1]'],
    [{ input: ['a', ''] }, 'invalid_value', 'input[1]'],
    [{ input: [1, 'a'] }, 'invalid_type', 'input[1]'],
    [{ input: [1, 1.5] }, 'invalid_type', 'input[1]'],
    [{ input: [1, -1] }, 'invalid_value', 'input[1]'],
    [{ input: [[1], 'a'] }, 'invalid_type', 'input[1]'],
    [{ input: [[1], []] }, 'invalid_value', 'input[1]'],
    [{ input: [[1], [2, 'a']] }, 'invalid_type', 'input[1][1]'],
    [{ input: 'x', encoding_format: 1 }, 'invalid_type', 'encoding_format'],
    [{ input: 'x', dimensions: 1_537 }, 'invalid_value', 'dimensions'],
  ])('%j: %s of %s', async (fields, code, param) => {
    expect(await refusal({ model: 'small', ...fields })).toMatchObject({ status: 400, code, param })
  })

  test('a model on a route it is not made for, either way', async () => {
    expect(await refusal({ model: 'sandbox-chat', input: 'x' })).toMatchObject({
      status: 400,
      code: 'model_not_supported',
      param: 'model',
    })
    const chat = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'small', messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(((await chat.json()) as { error: object }).error).toMatchObject({ code: 'model_not_supported' })
  })

  test.each([
    ['/v1/responses/input_tokens', { model: 'small', input: 'x' }],
    ['/v1/messages/count_tokens', { model: 'small', messages: [{ role: 'user', content: 'x' }] }],
    ['/v1beta/models/small:countTokens', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
  ])('nor is it counted for one: %s', async (path, body) => {
    const counted = await fetch(new URL(path, gateway.baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([counted.status, await counted.text()]).toEqual([
      400,
      expect.stringContaining('is for embedding. This endpoint is for text models.'),
    ])
  })
})
