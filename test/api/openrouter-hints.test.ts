/**
 * Requests that say how they are routed, in OpenRouter's words. The bodies under `documented` are those of its guides
 * (openrouter.ai/docs/guides/routing/provider-selection and /model-fallbacks, as of 2026-08-22).
 */
import { describe, expect, test } from 'bun:test'
import { startWordVendor, type WordVendor } from '../support/word-vendor.ts'
import { useGateway } from '../support/use-gateway.ts'

let vendor: WordVendor
const gateway = useGateway(
  () => {
    vendor = startWordVendor()
    const good = (provider: string): string => `{ provider: ${provider}, model: ${provider}-5-words }`
    const bad = (provider: string, status = 500): string => `{ provider: ${provider}, model: status-${status} }`
    const model = (id: string, [input, output]: readonly [number, number], offers: readonly string[]): string =>
      `  '${id}': { price: { input: ${input}, output: ${output} }, output_tokens_max: 1000, offers: [${offers.join(', ')}] }`
    const providers = ['openai', 'together', 'azure', 'deepinfra', 'fireworks', 'broken', 'elsewhere']
    return {
      yaml: `
sandbox: false
providers:
${providers.map((id) => `  ${id}: { base_url: '${vendor.origin}/v1', allow_private: true }`).join('\n')}
  claude: { preset: anthropic, base_url: '${vendor.origin}/v1', key: k, allow_private: true }
models:
${[
  model('meta-llama/llama-3.3-70b-instruct', [1, 2], [good('deepinfra'), good('together')]),
  model('meta-llama/llama-3.1-8b-instruct', [1, 2], [good('deepinfra')]),
  model('mistralai/mixtral-8x7b-instruct', [1, 2], [good('fireworks'), good('together')]),
  model('openai/gpt-5-mini', [0.25, 2], [good('openai'), good('azure')]),
  model('google/gemini-3-flash-preview', [0.5, 3], [good('fireworks')]),
  model('anthropic/claude-sonnet-4.5', [3, 15], [bad('broken')]),
  model('anthropic/claude-opus-4.1', [15, 75], [good('claude')]),
  model('~anthropic/claude-sonnet-latest', [3, 15], [bad('broken', 429)]),
  model('~openai/gpt-latest', [3, 15], [bad('broken', 503)]),
  model('gryphe/mythomax-l2-13b', [0.1, 0.1], [good('fireworks')]),
  model('translated', [1, 1], [good('claude'), good('together')]),
  model('only-translated', [1, 1], [good('claude')]),
  model('refusing', [1, 1], [bad('broken', 400)]),
  model('priceless', [1_000, 1_000], [good('together')]),
  model('private', [1, 1], [good('elsewhere')]),
].join('\n')}
  'losing': { price: { input: 1, output: 1 }, offers: [${good('deepinfra')}, { provider: azure, model: azure-5-words, priority: 1, cost: { input: 9, output: 9 } }] }
  'embedder': { kind: embedding, price: { input: 1 }, offers: [{ provider: together, model: status-500 }] }
`,
    }
  },
  () => vendor.stop(),
)

type HeaderValues = Readonly<Record<string, string>>
type Destination = {
  readonly path?: string
  readonly key?: string
  readonly headers?: HeaderValues
  readonly signal?: AbortSignal
}

const said = { messages: [{ role: 'user', content: 'Hello' }] }
function send(body: object, { path = '/chat/completions', key = gateway.key, headers = {}, signal }: Destination = {}) {
  const url = new URL(path.startsWith('/v1beta') ? path : `/v1${path}`, gateway.baseUrl)
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: signal ?? null,
  })
}
const LLAMA = 'meta-llama/llama-3.3-70b-instruct'
const MIXTRAL = 'mistralai/mixtral-8x7b-instruct'

type StoredRecord = { model: string; provider_id: string; held: string; charged: string; attempts: string }
const recordOf = (response: Response): Promise<StoredRecord> =>
  gateway.operate<StoredRecord>('request.show', { request: response.headers.get('x-request-id') })

/** The models of a request's attempts, with their results. */
const attemptsOf = ({ attempts }: StoredRecord): unknown =>
  (JSON.parse(attempts) as { modelId?: string; result: string }[]).map(({ modelId, result }) => [modelId, result])

async function refusal(response: Response): Promise<readonly [number, string]> {
  const { error } = (await response.json()) as { error: { param: string } }
  return [response.status, error.param]
}

const answered: readonly (readonly [name: string, body: object, model: string, providers: readonly string[]])[] = [
  ['sort', { model: LLAMA, provider: { sort: 'throughput' } }, LLAMA, ['deepinfra', 'together']],
  [':nitro', { model: `${LLAMA}:nitro` }, LLAMA, ['deepinfra', 'together']],
  [':floor', { model: `${LLAMA}:floor` }, LLAMA, ['deepinfra', 'together']],
  ['order', { model: MIXTRAL, provider: { order: ['openai', 'together'] } }, MIXTRAL, ['together']],
  [
    'order without fall-backs',
    { model: MIXTRAL, provider: { order: ['openai', 'together'], allow_fallbacks: false } },
    MIXTRAL,
    ['together'],
  ],
  ['only', { model: 'openai/gpt-5-mini', provider: { only: ['azure'] } }, 'openai/gpt-5-mini', ['azure']],
  ['ignore', { model: LLAMA, provider: { ignore: ['deepinfra'] } }, LLAMA, ['together']],
  [
    'max_price',
    { model: LLAMA, provider: { max_price: { prompt: 1, completion: 2 }, sort: 'throughput' } },
    LLAMA,
    ['deepinfra', 'together'],
  ],
  [
    'preferred_max_latency and preferred_min_throughput',
    {
      model: LLAMA,
      provider: {
        preferred_max_latency: { p50: 1, p90: 3, p99: 5 },
        preferred_min_throughput: { p50: 100, p90: 50 },
      },
    },
    LLAMA,
    ['deepinfra', 'together'],
  ],
  [
    'the cheapest model that is fast enough',
    {
      models: ['anthropic/claude-sonnet-4.5', 'openai/gpt-5-mini', 'google/gemini-3-flash-preview'],
      provider: { sort: { by: 'price', partition: 'none' }, preferred_min_throughput: { p90: 50 } },
    },
    'openai/gpt-5-mini',
    ['openai', 'azure'],
  ],
  [
    'partition none',
    {
      models: ['anthropic/claude-sonnet-4.5', 'google/gemini-3-flash-preview', 'openai/gpt-5-mini'],
      provider: { sort: { by: 'price', partition: 'none' } },
    },
    'openai/gpt-5-mini',
    ['openai', 'azure'],
  ],
  [
    'models alone',
    { models: ['~anthropic/claude-sonnet-latest', 'gryphe/mythomax-l2-13b'] },
    'gryphe/mythomax-l2-13b',
    ['fireworks'],
  ],
  [
    'models beside a model',
    { model: '~openai/gpt-latest', models: ['~anthropic/claude-sonnet-latest', 'gryphe/mythomax-l2-13b'] },
    'gryphe/mythomax-l2-13b',
    ['fireworks'],
  ],
]

test('no request chooses a provider that costs more than its account pays', async () => {
  const asked = (provider: object): Promise<Response> => send({ ...said, model: 'losing', max_tokens: 9, provider })
  for (const provider of [{ order: ['azure'] }, { only: ['azure', 'deepinfra'], sort: 'throughput' }]) {
    const response = await asked(provider)
    expect([response.status, (await recordOf(response)).provider_id]).toEqual([200, 'deepinfra'])
  }
  expect(await refusal(await asked({ only: ['azure'] }))).toEqual([400, 'provider.only'])
  expect(await refusal(await asked({ ignore: ['deepinfra'] }))).toEqual([400, 'provider.ignore'])
})

describe('documented', () => {
  test.each(answered)('%s', async (_name, body, model, providers) => {
    const response = await send({ ...said, ...body })
    expect([response.status, ((await response.json()) as { model: string }).model]).toEqual([200, model])
    const record = await recordOf(response)
    expect(record.model).toBe(model)
    expect(providers).toContain(record.provider_id)
  })

  test.each([
    ['data_collection', 'deny'],
    ['zdr', true],
    ['enforce_distillable_text', true],
    ['quantizations', ['fp8']],
  ])('%s is refused by name, because nothing here can keep it', async (member, value) => {
    const refused = await send({ ...said, model: LLAMA, provider: { [member]: value } })
    expect(await refusal(refused)).toEqual([400, `provider.${member}`])
  })

  test('fallbacks of the Messages format', async () => {
    const body = {
      ...said,
      model: 'anthropic/claude-sonnet-4.5',
      max_tokens: 100,
      fallbacks: [{ model: 'anthropic/claude-opus-4.1' }],
    }
    const response = await send(body, { path: '/messages' })
    expect([response.status, response.headers.get('x-tollgate-model')]).toEqual([200, 'anthropic/claude-opus-4.1'])
    const [first] = body.fallbacks
    for (const fallbacks of [
      [{ ...first, max_tokens: 5 }],
      Array.from({ length: 4 }, (_, i) => ({ model: `m${i}` })),
    ]) {
      expect((await send({ ...body, fallbacks }, { path: '/messages' })).status).toBe(400)
    }
    const both = await send({ ...body, models: [LLAMA] }, { path: '/messages' })
    expect(both.status).toBe(400)
  })
})

test('require_parameters passes over an upstream that would leave a field out', async () => {
  const body = { ...said, model: 'translated', seed: 1, provider: { order: ['claude'] } }
  expect((await send(body)).headers.get('x-tollgate-dropped')).toBe('seed')
  const required = await send({ ...body, provider: { order: ['claude'], require_parameters: true } })
  expect([required.status, required.headers.get('x-tollgate-dropped')]).toEqual([200, null])
  const refused = await send({ ...body, model: 'only-translated', provider: { require_parameters: true } })
  expect(await refusal(refused)).toEqual([400, 'provider.require_parameters'])
})

test.each([
  ['route', 'fallback', 'route'],
  ['models', 'gpt', 'models'],
  ['models', [1], 'models[0]'],
  ['models', ['a', 'b', 'c', 'd', 'e'], 'models'],
  ['models', ['no-such-model'], 'models'],
  ['provider', 'openai', 'provider'],
  ['provider', { sort: 'beauty' }, 'provider.sort'],
  ['provider', { sort: { by: 'price', how: 1 } }, 'provider.sort.how'],
  ['provider', { colour: 'red' }, 'provider.colour'],
  ['provider', { preferred_max_latency: 'soon' }, 'provider.preferred_max_latency'],
  ['provider', { preferred_max_latency: { p42: 1 } }, 'provider.preferred_max_latency.p42'],
  ['provider', { max_price: { prompt: 'much' } }, 'provider.max_price.prompt'],
  ['provider', { max_price: { prompt: 0.5 } }, 'provider.max_price.prompt'],
  ['provider', { order: ['nobody'] }, 'provider.order[0]'],
  ['provider', { only: ['openai'] }, 'provider.only'],
  ['provider', { ignore: ['deepinfra', 'together'] }, 'provider.ignore'],
  ['Provider', { only: ['openai'] }, 'Provider'],
])('%s: %j is a 400 or 404 that names %s', async (field, value, param) => {
  const [status, named] = await refusal(await send({ ...said, model: LLAMA, [field]: value }))
  expect([status === 400 || status === 404, named]).toEqual([true, param])
})

describe('by header', () => {
  const order = (provider: string): HeaderValues => ({ 'x-tollgate-provider': JSON.stringify({ order: [provider] }) })

  test('in the dialects whose clients cannot send fields', async () => {
    const part = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
    const gemini = await send(part, {
      path: `/v1beta/models/${LLAMA}:floor:generateContent`,
      headers: order('together'),
    })
    const responses = await send({ model: LLAMA, input: 'Hello' }, { path: '/responses', headers: order('together') })
    const messages = { ...said, model: LLAMA, max_tokens: 10 }
    for (const one of [gemini, responses, await send(messages, { path: '/messages', headers: order('together') })]) {
      expect([one.status, one.headers.get('x-tollgate-provider')]).toEqual([200, 'together'])
    }
  })

  test('models, and a field overrules the header', async () => {
    const headers = { 'x-tollgate-models': 'gryphe/mythomax-l2-13b, openai/gpt-5-mini', ...order('together') }
    const response = await send({ ...said, model: '~openai/gpt-latest', provider: { ignore: [] } }, { headers })
    expect(response.headers.get('x-tollgate-model')).toBe('gryphe/mythomax-l2-13b')
    const stated = await send({ ...said, model: LLAMA, provider: { order: ['deepinfra'] } }, { headers })
    expect(stated.headers.get('x-tollgate-provider')).toBe('deepinfra')
  })

  test('a header that is not JSON is refused, and so is a hint that a video cannot follow', async () => {
    const headers = { 'x-tollgate-provider': 'together' }
    expect(await refusal(await send({ ...said, model: LLAMA }, { headers }))).toEqual([400, 'x-tollgate-provider'])
    const film = { model: LLAMA, content: [{ type: 'text', text: 'sea' }] }
    const refused = await send(film, { path: '/videos', headers: { 'x-tollgate-models': 'private' } })
    expect(await refusal(refused)).toEqual([400, 'models'])
  })

  test('and a field is refused where only headers are read, so that no hint is lost', async () => {
    const provider = { only: ['together'] }
    const part = { role: 'user', parts: [{ text: 'Hello' }] }
    const bodies: readonly (readonly [path: string, body: object])[] = [
      [`/v1beta/models/${LLAMA}:generateContent`, { contents: [part] }],
      [`/v1beta/models/${LLAMA}:streamGenerateContent?alt=sse`, { contents: [part] }],
      ['/v1beta/models/embedder:embedContent', { content: part }],
      ['/videos', { model: LLAMA, content: [{ type: 'text', text: 'sea' }] }],
    ]
    for (const [path, body] of bodies) {
      for (const [field, value] of Object.entries({ provider, models: [MIXTRAL], route: 'fallback' })) {
        const response = await send({ ...body, [field]: value }, { path })
        const text = await response.text()
        expect([path, response.status, text.includes(`'${field}' is no field of this endpoint`)]).toEqual([
          path,
          400,
          true,
        ])
      }
    }
    const form = new FormData()
    for (const [name, value] of Object.entries({ model: LLAMA, prompt: 'a', provider: JSON.stringify(provider) }))
      form.set(name, value)
    form.set('image', new Blob(['x'], { type: 'image/png' }), 'a.png')
    const headers = { authorization: `Bearer ${gateway.key}` }
    const edit = await fetch(`${gateway.baseUrl}/images/edits`, { method: 'POST', headers, body: form })
    expect(edit.status).toBe(400)
  })

  test('a repetition with other hints is another request', async () => {
    const once = { 'idempotency-key': crypto.randomUUID() }
    const again = (headers: HeaderValues) => send({ ...said, model: LLAMA }, { headers: { ...once, ...headers } })
    expect([(await again(order('together'))).status, (await again(order('deepinfra'))).status]).toEqual([200, 422])
  })
})

describe('what an account may not use', () => {
  const keyFor = async (models: readonly string[]): Promise<string> =>
    (await gateway.operate<{ secret: string }>('key.create', { account: gateway.accountId, name: 'some', models }))
      .secret

  test('is no fall-back', async () => {
    const key = await keyFor([LLAMA])
    const refused = await send({ ...said, model: LLAMA, models: ['private'] }, { key })
    expect(await refusal(refused)).toEqual([403, 'models'])
  })

  test('has providers that are as unknown as those that do not exist', async () => {
    const key = await keyFor([LLAMA])
    const ask = async (name: string) => {
      const response = await send({ ...said, model: LLAMA, provider: { ignore: [name] } }, { key })
      return [response.status, await response.text()] as const
    }
    const [hidden, absent] = [await ask('elsewhere'), await ask('nobody')]
    expect(hidden[0]).toBe(400)
    expect(hidden).toEqual(absent)
    // Whoever may use its model knows it.
    expect((await send({ ...said, model: LLAMA, provider: { ignore: ['elsewhere'] } })).status).toBe(200)
  })

  test('is not told by the header, which names only what the request has named', async () => {
    const response = await send({ ...said, model: MIXTRAL, provider: { ignore: ['fireworks'] } })
    expect([response.status, response.headers.get('x-tollgate-provider')]).toEqual([200, null])
  })
})

describe('a fall-back model', () => {
  const accountWith = async (balance: string) => {
    const { id: account } = await gateway.operate<{ id: string }>('account.create', {
      name: `poor-${crypto.randomUUID()}`,
      balance,
    })
    return (await gateway.operate<{ secret: string }>('key.create', { account, name: 'k' })).secret
  }
  const balanceOf = async (key: string) =>
    (await (await fetch(`${gateway.baseUrl}/balance`, { headers: { authorization: `Bearer ${key}` } })).json()) as {
      available: string
      held: string
    }

  test.each([
    [{ max_tokens: 100 }, false],
    [{ max_tokens: 100 }, true],
    [{}, false],
    [{}, true],
  ])('is charged by its own card under the one hold of the request: %j, streamed %j', async (limits, stream) => {
    const key = await accountWith('0.05')
    const models = ['anthropic/claude-sonnet-4.5', 'anthropic/claude-opus-4.1']
    const response = await send({ ...said, ...limits, stream, models }, { key })
    expect(response.status).toBe(200)
    await response.text()
    const record = await recordOf(response)
    // 7 tokens in for $15 and 5 out for $75 a million.
    expect([record.model, record.charged]).toEqual(['anthropic/claude-opus-4.1', '480000'])
    expect(BigInt(record.held)).toBeGreaterThanOrEqual(480_000n)
    expect(attemptsOf(record)).toEqual([
      [models[0], 'server'],
      [models[1], 'ok'],
    ])
    expect(await balanceOf(key)).toMatchObject({ available: '0.04952', held: '0.00' })
  })

  test('that is not affordable is passed over, before and after the first attempt', async () => {
    const key = await accountWith('0.01')
    const body = { ...said, max_tokens: 1_000 }
    for (const models of [
      ['priceless', 'gryphe/mythomax-l2-13b'],
      ['refusing', 'priceless', 'gryphe/mythomax-l2-13b'],
    ]) {
      const response = await send({ ...body, models }, { key })
      expect([response.status, response.headers.get('x-tollgate-model')]).toEqual([200, 'gryphe/mythomax-l2-13b'])
    }
  })

  test('of many requests at once never takes more than there is, also if clients leave', async () => {
    const key = await accountWith('0.1')
    // The first model takes $0.0015 a request, the second one $0.0075.
    const body = { ...said, max_tokens: 100, models: ['anthropic/claude-sonnet-4.5', 'anthropic/claude-opus-4.1'] }
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const leaving = new AbortController()
        const sent = send({ ...body, stream: i % 2 === 0 }, { key, signal: leaving.signal })
        if (i % 5 === 0) setTimeout(() => leaving.abort(), i)
        const status = await sent.then(
          async (response) => (await response.text(), response.status),
          () => 0,
        )
        return status
      }),
    )
    expect(new Set(statuses).difference(new Set([0, 200, 401, 502]))).toEqual(new Set())
    let balance = await balanceOf(key)
    for (let i = 0; i < 100 && balance.held !== '0.00'; i++) {
      await Bun.sleep(20)
      balance = await balanceOf(key)
    }
    expect(balance.held).toBe('0.00')
    expect(Number(balance.available)).toBeGreaterThanOrEqual(0)
    expect(Number(balance.available)).toBeLessThan(0.1)
  })

  test('with limits of its own is passed over once another model was tried, and is taken before', async () => {
    const { secret: key } = await gateway.operate<{ secret: string }>('key.create', {
      account: gateway.accountId,
      name: 'limited',
      limits: { models: { 'openai/gpt-5-mini': { requests_per_minute: 1 } } },
    })
    const models = ['anthropic/claude-sonnet-4.5', 'openai/gpt-5-mini', 'gryphe/mythomax-l2-13b']
    const served = async (body: object) =>
      (await send({ ...said, max_tokens: 10, ...body }, { key })).headers.get('x-tollgate-model')
    expect(await served({ models })).toBe('gryphe/mythomax-l2-13b')
    expect(await served({ models: models.slice(1) })).toBe('openai/gpt-5-mini')
    expect(await served({ models: models.slice(1) })).toBe('gryphe/mythomax-l2-13b')
  })

  test('that fails too is the failure, and costs nothing', async () => {
    const key = await accountWith('0.05')
    const models = ['anthropic/claude-sonnet-4.5', '~openai/gpt-latest']
    const response = await send({ ...said, max_tokens: 10, models }, { key })
    expect([response.status, await balanceOf(key)]).toMatchObject([503, { available: '0.05', held: '0.00' }])
    expect((await recordOf(response)).model).toBe('~openai/gpt-latest')
  })

  test('answers in the background, and is the model of the stored response', async () => {
    const models = ['anthropic/claude-sonnet-4.5', 'openai/gpt-5-mini']
    const started = await send({ models, input: 'Hello', background: true }, { path: '/responses' })
    const { id } = (await started.json()) as { id: string }
    const show = async () =>
      (await (
        await fetch(`${gateway.baseUrl}/responses/${id}`, { headers: { authorization: `Bearer ${gateway.key}` } })
      ).json()) as { status: string; model: string }
    let shown = await show()
    for (let i = 0; i < 100 && shown.status === 'in_progress'; i++) {
      await Bun.sleep(20)
      shown = await show()
    }
    expect(shown).toMatchObject({ status: 'completed', model: 'openai/gpt-5-mini' })
  })
})

test('counts of tokens take the same bodies', async () => {
  const body = { ...said, model: LLAMA, provider: { order: ['nobody'] } }
  expect((await send(body, { path: '/messages/count_tokens' })).status).toBe(200)
  const counted = { model: LLAMA, input: 'Hello', models: ['private'] }
  expect((await send(counted, { path: '/responses/input_tokens' })).status).toBe(200)
})

test('embeddings and images take hints', async () => {
  const refused = await send(
    { model: 'embedder', input: 'a', provider: { order: ['nobody'] } },
    { path: '/embeddings' },
  )
  expect(await refusal(refused)).toEqual([400, 'provider.order[0]'])
  const image = await send({ model: LLAMA, prompt: 'a', provider: { sort: 'x' } }, { path: '/images/generations' })
  expect(await refusal(image)).toEqual([400, 'provider.sort'])
})

test('no upstream has seen a hint', () => {
  expect(vendor.asked.length).toBeGreaterThan(20)
  for (const { body } of vendor.asked) {
    for (const field of ['provider', 'models', 'route', 'fallbacks']) expect(body).not.toHaveProperty(field)
    expect(String(body['model'])).not.toMatch(/:(floor|nitro)$/)
  }
})
