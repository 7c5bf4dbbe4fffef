/** The answer cache, with a vendor that counts its calls and never gives the same answer twice. */
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai-7'
import { useGateway } from '../support/use-gateway.ts'

type Json = Record<string, unknown>
let calls = 0

const sse = (events: readonly Json[], done = ''): Response =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + done, {
    headers: { 'content-type': 'text/event-stream' },
  })

function chatAnswer({ model, stream }: Json, text: string): Response {
  const finish = model === 'filtered' ? 'content_filter' : model === 'short' ? 'length' : 'stop'
  const usage = model === 'mute' ? undefined : { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
  const calling = { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }
  const words = model === 'calling' ? calling : { content: text }
  const head = { id: `chatcmpl-${text}`, created: 1, model, system_fingerprint: 'fp' }
  if (!stream) {
    const message = { role: 'assistant', content: null, ...words }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
    return Response.json({ ...head, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: Json, end: string | null): Json => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: end }],
  })
  const deltas = model === 'calling' ? [calling] : text.split(/(?<= )/).map((content) => ({ content }))
  const pieces = deltas.map((delta) => chunk(delta, null))
  const last = { ...head, object: 'chat.completion.chunk', choices: [], usage }
  return sse(
    [chunk({ role: 'assistant', content: '' }, null), ...pieces, chunk({}, finish), ...(usage ? [last] : [])],
    'data: [DONE]\n\n',
  )
}

function messagesAnswer({ model, stream }: Json, text: string): Response {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model }
  const usage = { input_tokens: 9, output_tokens: 4 }
  const end = { stop_reason: 'end_turn', stop_sequence: null }
  if (!stream) return Response.json({ ...head, content: [{ type: 'text', text }], ...end, usage })
  return sse([
    { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...text.split(/(?<= )/).map((part) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: part },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: end, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ])
}

function geminiAnswer(path: string, text: string): Response {
  const answer = {
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
  }
  return path.includes('stream') ? sse([answer]) : Response.json(answer)
}

const vendor = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const body = (await request.json()) as Json
    const text = `answer number ${++calls}`
    if (pathname.endsWith('/embeddings')) {
      const embedding = [calls, 0.5]
      const data = [{ object: 'embedding', index: 0, embedding }]
      return Response.json({ object: 'list', data, model: 'e', usage: { prompt_tokens: 3, total_tokens: 3 } })
    }
    if (pathname.endsWith('/messages')) return messagesAnswer(body, text)
    return pathname.includes('/v1beta/') ? geminiAnswer(pathname, text) : chatAnswer(body, text)
  },
})

const PRICE = 'price: { input: 1, output: 2 }'
const model = (id: string, more = '', provider = 'vendor'): string =>
  `  ${id}: { answer_cache_seconds: 600, ${PRICE}, ${more} offers: [{ provider: ${provider}, model: ${id} }] }`
const gateway = useGateway(
  () => ({
    yaml: [
      'providers:',
      `  vendor: { base_url: '${vendor.url.origin}/v1', allow_private: true }`,
      `  other: { base_url: '${vendor.url.origin}/v1', allow_private: true }`,
      `  claude: { preset: anthropic, base_url: '${vendor.url.origin}/v1', key: k, allow_private: true }`,
      `  google: { preset: gemini, base_url: '${vendor.url.origin}/v1beta', key: k, allow_private: true }`,
      'models:',
      ...['plain', 'filtered', 'short', 'mute', 'calling', 'drained'].map((id) => model(id)),
      model('direct', '', 'claude'),
      model('native', '', 'google'),
      `  off: { ${PRICE}, offers: [{ provider: vendor, model: plain }] }`,
      `  brief: { answer_cache_seconds: 1, ${PRICE}, offers: [{ provider: vendor, model: plain }] }`,
      `  lied: { answer_cache_seconds: 600, ${PRICE}, offers: [{ provider: other, model: plain }, { provider: vendor, model: plain, priority: 2 }] }`,
      '  sold: { answer_cache_seconds: 600, price: { input: 1, output: 2, each: { answer/cached: 0.25 } }, offers: [{ provider: vendor, model: plain }] }',
      '  vectors: { kind: embedding, answer_cache_seconds: 600, dimensions: 2, price: { input: 1 }, offers: [{ provider: vendor, model: e }] }',
    ].join('\n'),
  }),
  () => vendor.stop(true),
)

type Member = { readonly name: string; readonly id: string; readonly key: string; readonly keyId: string }
let serial = 0
async function member(balance = '10', limits: object = {}): Promise<Member> {
  const name = `cached-${serial++}`
  const { id } = await gateway.operate<{ id: string }>('account.create', { name, balance, ...limits })
  const key = await gateway.operate<{ secret: string; id: string }>('key.create', { account: name, name: 'k' })
  await gateway.caughtUp()
  return { name, id, key: key.secret, keyId: key.id }
}

type Reply = {
  readonly status: number
  readonly cache: string | null
  readonly headers: Headers
  readonly text: string
}
async function post(who: Member, path: string, body: object, cache?: string, more: Record<string, string> = {}) {
  const answer = await fetch(`${new URL(gateway.baseUrl).origin}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${who.key}`,
      'content-type': 'application/json',
      ...(cache === undefined ? {} : { 'x-tollgate-cache': cache }),
      ...more,
    },
    body: JSON.stringify(body),
  })
  const { status, headers } = answer
  return { status, headers, cache: headers.get('x-tollgate-cache'), text: await answer.text() } satisfies Reply
}

const question = (more: Json = {}): Json => ({
  model: 'plain',
  messages: [{ role: 'user', content: 'hi' }],
  temperature: 0,
  ...more,
})
const chat = (who: Member, more: Json = {}, cache?: string): Promise<Reply> =>
  post(who, '/v1/chat/completions', question(more), cache)
const said = ({ text }: Reply): string => /answer number \d+/.exec(text)?.[0] ?? text

const bytesKept = async (): Promise<number> =>
  Number(/^tollgate_answer_cache_bytes (\d+)/m.exec(await gateway.metrics())?.[1])
/** Asks, and waits until the answer has been kept, which happens after it was sent. */
async function kept(ask: () => Promise<Reply>): Promise<Reply> {
  const before = await bytesKept()
  const reply = await ask()
  expect([reply.status, reply.cache]).toEqual([200, 'miss'])
  for (let tries = 0; (await bytesKept()) === before; tries++) {
    if (tries > 400) throw new Error('the answer was not kept')
    await Bun.sleep(10)
  }
  return reply
}
/** Asks for something that must not be kept, and then for something that is kept behind it. */
async function unkept(who: Member, ask: () => Promise<Reply>): Promise<void> {
  const reply = await ask()
  expect(reply.status).toBe(200)
  await kept(() => chat(who, { seed: serial++ }))
  expect((await ask()).cache).not.toBe('hit')
}

describe('the same request of the same account', () => {
  test('gets the same answer again, free, marked, recorded, and without a vendor', async () => {
    const who = await member()
    const first = await kept(() => chat(who))
    const before = calls
    const again = await chat(who, { user: 'another', metadata: { a: 'b' } })
    expect([again.status, again.cache, said(again)]).toEqual([200, 'hit', said(first)])
    expect(calls).toBe(before)
    expect(again.headers.get('x-tollgate-cost-usd')).toBe('0.00')
    expect(again.headers.get('age')).toMatch(/^\d+$/)
    expect(again.headers.get('x-tollgate-attempts')).toBe('0')
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    expect(JSON.parse(again.text)).toMatchObject({ model: 'plain', system_fingerprint: 'fp', usage })
    const records = await gateway.operate<Json[]>('request.list', { account: who.name, limit: 10 })
    const hit = records.find(({ id }) => id === again.headers.get('x-request-id'))
    expect(hit).toMatchObject({ charged: '0', outcome: 'completed', attempts: '[]', provider_id: null })
    expect(JSON.parse(String(hit?.['pieces']))).toEqual([{ unit: 'piece:answer/cached', count: 1 }])
    const metrics = await gateway.metrics()
    expect(metrics).toMatch(/tollgate_answer_cache_total\{model="plain",result="hit"\} [1-9]/)
    expect(metrics).toMatch(/tollgate_answer_cache_total\{model="plain",result="miss"\} [1-9]/)
  })

  test('is another request if its body, model, endpoint or account is another', async () => {
    const who = await member()
    const first = await kept(() => chat(who))
    const stranger = await member()
    const others = [
      await chat(who, { messages: [{ role: 'user', content: 'hi!' }] }),
      await chat(who, { max_tokens: 50 }),
      await chat(who, { model: 'sold' }),
      await chat(stranger),
      await post(who, '/v1/messages', question({ max_tokens: 50 })),
    ]
    for (const other of others) expect([other.cache, said(other) === said(first)]).toEqual(['miss', false])
  })

  test('is answered by a vendor each if many come at once', async () => {
    const who = await member()
    const before = calls
    const replies = await kept(async () => {
      const all = await Promise.all(Array.from({ length: 10 }, () => chat(who, { seed: 77 })))
      expect(all.every(({ status }) => status === 200)).toBe(true)
      // One that came late may already be served from the cache.
      return all.find(({ cache }) => cache === 'miss') as Reply
    })
    expect(replies.status).toBe(200)
    expect(calls - before).toBeGreaterThan(1)
    expect((await chat(who, { seed: 77 })).cache).toBe('hit')
  })
})

describe('streamed and whole', () => {
  const forms = [
    ['chat', 'plain'],
    ['chat over another dialect', 'direct'],
  ] as const
  for (const [name, id] of forms) {
    test(`${name}: each form is served from the other`, async () => {
      const who = await member()
      const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: who.key, maxRetries: 0 })
      const read = async (seed: number): Promise<string> => {
        const asked = question({ model: id, seed }) as never as OpenAI.ChatCompletionCreateParamsNonStreaming
        const stream_options = { include_usage: true }
        const stream = await client.chat.completions.create({ ...asked, stream: true, stream_options })
        let text = ''
        const ends: unknown[] = []
        for await (const { choices, usage } of stream) {
          text += choices[0]?.delta.content ?? ''
          if (choices[0]?.finish_reason) ends.push(choices[0].finish_reason)
          if (usage) ends.push(usage.total_tokens)
        }
        return `${text} ${ends.join()}`
      }
      const whole = await kept(() => chat(who, { model: id, seed: 1 }))
      expect(await read(1)).toBe(`${said(whole)} stop,0`)
      const streamed = await kept(() => chat(who, { model: id, seed: 2, stream: true }))
      expect(streamed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const again = await chat(who, { model: id, seed: 2 })
      expect(again.cache).toBe('hit')
      const text = /number (\d+)/.exec(streamed.text.replaceAll(/"\}.*?"content":"/gs, ''))?.[1]
      expect(said(again)).toBe(`answer number ${text}`)
      expect(await read(2)).toBe(`${said(again)} stop,0`)
    })
  }

  for (const id of ['plain', 'direct']) {
    test(`Messages from ${id}`, async () => {
      const who = await member()
      const client = new Anthropic({ baseURL: new URL(gateway.baseUrl).origin, apiKey: who.key, maxRetries: 0 })
      const body = { model: id, max_tokens: 50, temperature: 0, messages: [{ role: 'user' as const, content: 'hi' }] }
      const whole = await kept(() => post(who, '/v1/messages', body))
      const message = await client.messages.stream(body).finalMessage()
      expect(message.content).toEqual([{ type: 'text', text: said(whole) } as never])
      expect(message).toMatchObject({
        stop_reason: 'end_turn',
        model: id,
        usage: { input_tokens: 0, output_tokens: 0 },
      })
      const streamed = { ...body, system: 'streamed' }
      await kept(() => post(who, '/v1/messages', { ...streamed, stream: true }))
      const first = await client.messages.create(streamed)
      expect((await client.messages.stream(streamed).finalMessage()).content).toEqual(first.content as never)
      expect(first.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 })
    })
  }

  for (const id of ['plain', 'native']) {
    test(`Gemini's dialect from ${id}`, async () => {
      const who = await member()
      const client = new GoogleGenAI({
        apiKey: who.key,
        httpOptions: { baseUrl: new URL(gateway.baseUrl).origin, apiVersion: 'v1beta' },
      })
      const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
      const body = { contents, generationConfig: { temperature: 0 } }
      const whole = await kept(() => post(who, `/v1beta/models/${id}:generateContent`, body))
      let text = ''
      let total: number | undefined = -1
      const streamed = await client.models.generateContentStream({ model: id, contents, config: { temperature: 0 } })
      for await (const chunk of streamed) {
        text += chunk.text ?? ''
        total = chunk.usageMetadata?.totalTokenCount
      }
      expect([text, total ?? 0]).toEqual([said(whole), 0])
      const other = { ...body, generationConfig: { temperature: 0, seed: 2 } }
      await kept(() => post(who, `/v1beta/models/${id}:streamGenerateContent?alt=sse`, other))
      const again = await post(who, `/v1beta/models/${id}:generateContent`, other)
      expect([again.cache, again.status]).toEqual(['hit', 200])
      expect(said(again)).toMatch(/^answer number \d+$/)
    })
  }

  for (const id of ['plain', 'direct']) {
    test(`Responses from ${id}, if nothing is stored`, async () => {
      const who = await member()
      const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: who.key, maxRetries: 0 })
      const body = { model: id, input: 'hi', temperature: 0, store: false }
      const whole = await kept(() => post(who, '/v1/responses', body))
      const again = await client.responses.create(body)
      expect(again.output_text).toBe(said(whole))
      expect(again.usage?.total_tokens).toBe(0)
      let text = ''
      let end: OpenAI.Responses.Response | undefined
      for await (const event of await client.responses.create({ ...body, stream: true })) {
        if (event.type === 'response.output_text.delta') text += event.delta
        if (event.type === 'response.completed') end = event.response
      }
      expect([text, end?.output_text ?? said(whole), end?.status]).toEqual([said(whole), said(whole), 'completed'])
      const other = { ...body, input: 'streamed' }
      await kept(() => post(who, '/v1/responses', { ...other, stream: true }))
      expect((await client.responses.create(other)).output_text).toMatch(/^answer number \d+$/)
      for (const stored of [
        { ...body, store: true },
        { model: id, input: 'hi', temperature: 0 },
      ]) {
        expect((await post(who, '/v1/responses', stored)).cache).toBeNull()
      }
    })
  }

  test('embeddings', async () => {
    const who = await member()
    for (const encoding_format of ['float', 'base64']) {
      const ask = (): Promise<Reply> => post(who, '/v1/embeddings', { model: 'vectors', input: 'hi', encoding_format })
      const first = await kept(ask)
      const again = await ask()
      expect(again.cache).toBe('hit')
      const usage = { prompt_tokens: 0, total_tokens: 0 }
      expect(JSON.parse(again.text)).toEqual({ ...(JSON.parse(first.text) as Json), usage })
    }
    const content = { parts: [{ text: 'hi' }] }
    for (const [action, body] of [
      ['embedContent', { content }],
      ['batchEmbedContents', { requests: [{ model: 'models/vectors', content }] }],
    ] as const) {
      const ask = (): Promise<Reply> => post(who, `/v1beta/models/vectors:${action}`, body)
      const first = await kept(ask)
      const again = await ask()
      expect(again.cache).toBe('hit')
      const usageMetadata = { promptTokenCount: 0, totalTokenCount: 0 }
      expect(JSON.parse(again.text)).toEqual({ ...(JSON.parse(first.text) as Json), usageMetadata })
    }
  })
})

describe('a client', () => {
  test('is served at other temperatures only if it asks', async () => {
    const who = await member()
    for (const temperature of [0.7, undefined]) {
      expect((await chat(who, { temperature })).cache).toBeNull()
      const first = await kept(() => chat(who, { temperature }, 'on'))
      expect((await chat(who, { temperature })).cache).toBeNull()
      expect(said(await chat(who, { temperature }, 'on'))).toBe(said(first))
    }
  })

  test('can refuse it, renew it, and bound its age', async () => {
    const who = await member()
    const first = await kept(() => chat(who))
    const off = await chat(who, {}, 'off')
    expect([off.cache, said(off) === said(first)]).toEqual([null, false])
    expect(said(await chat(who))).toBe(said(first))
    const fresh = await kept(() => chat(who, {}, 'refresh'))
    expect(said(fresh)).not.toBe(said(first))
    expect(said(await chat(who, {}, 'on; ttl=999999999'))).toBe(said(fresh))
    await Bun.sleep(1_100)
    const young = await kept(() => chat(who, {}, 'on; ttl=1'))
    expect(said(young)).not.toBe(said(fresh))
    // It was kept for a second alone.
    await Bun.sleep(1_100)
    expect((await chat(who)).cache).toBe('miss')
  })

  test('cannot keep an answer for longer than the operator says', async () => {
    const who = await member()
    await kept(() => chat(who, { model: 'brief' }, 'on; ttl=999999999'))
    await Bun.sleep(1_100)
    expect((await chat(who, { model: 'brief' }, 'on; ttl=999999999')).cache).toBe('miss')
  })

  test('is told of a header that means nothing', async () => {
    const who = await member()
    for (const header of ['yes', 'on; ttl=0', 'on; ttl=1; ttl=2']) {
      const refused = await chat(who, {}, header)
      expect([refused.status, refused.text.includes('x-tollgate-cache')]).toEqual([400, true])
    }
  })

  test('repeats a hit by its idempotency key', async () => {
    const who = await member()
    const first = await kept(() => chat(who))
    const ask = (): Promise<Reply> =>
      post(who, '/v1/chat/completions', question(), undefined, { 'idempotency-key': 'k' })
    const [hit, repeated] = [await ask(), await ask()]
    expect([hit.cache, repeated.headers.get('idempotent-replayed')]).toEqual(['hit', 'true'])
    expect([said(hit), repeated.text]).toEqual([said(first), hit.text])
  })
})

describe('nothing is kept', () => {
  test('of a model without the cache, nor told to a client who asks', async () => {
    const who = await member()
    expect((await chat(who, { model: 'off' }, 'on')).cache).toBeNull()
    expect((await chat(who, { model: 'off' }, 'on')).cache).toBeNull()
  })

  test('of requests with tools or images', async () => {
    const who = await member()
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    for (const more of [{ tools }, { messages: [{ role: 'user', content: [image] }] }]) {
      for (let i = 0; i < 2; i++) expect((await chat(who, more, 'on')).cache).toBe('bypass')
      expect((await chat(who, more)).cache).toBeNull()
    }
  })

  for (const id of ['filtered', 'short', 'mute', 'calling']) {
    test(`of an answer that is ${id}`, async () => {
      const who = await member()
      await unkept(who, () => chat(who, { model: id }))
      await unkept(who, () => chat(who, { model: id, stream: true }))
    })
  }

  test('of an answer that is cut, unless its client has set the limit', async () => {
    const who = await member()
    await kept(() => chat(who, { model: 'short', max_tokens: 5 }))
    expect((await chat(who, { model: 'short', max_tokens: 5 })).cache).toBe('hit')
  })
})

describe('money and permission', () => {
  test('a hit with a price is held and charged at exactly that', async () => {
    const who = await member('1')
    const first = await kept(() => chat(who, { model: 'sold' }))
    const spent = Number(first.headers.get('x-tollgate-cost-usd'))
    for (const stream of [false, true, false]) {
      const hit = await chat(who, { model: 'sold', stream })
      expect([hit.cache, hit.headers.get('x-tollgate-cost-usd')]).toEqual(['hit', '0.25'])
      expect(hit.headers.get('x-tollgate-held-usd')).toBe('0.25')
    }
    const refused = await chat(who, { model: 'sold' })
    expect([refused.cache, refused.text.includes('insufficient_balance')]).toEqual([null, true])
    const { available_usd: balance } = await gateway.operate<{ available_usd: string }>('account.show', {
      account: who.name,
    })
    expect(Number(balance)).toBeCloseTo(0.25 - spent, 9)
  })

  test('counts against request limits', async () => {
    const who = await member()
    await kept(() => chat(who))
    await gateway.operate('account.limits', { account: who.name, limits: { requests_per_minute: 1 } })
    await gateway.caughtUp()
    expect([(await chat(who)).status, (await chat(who)).status]).toContain(429)
  })

  test('a hit ends with the permission', async () => {
    const who = await member()
    await kept(() => chat(who))
    await gateway.operate('key.update', { key: who.keyId, models: ['sold'] })
    await gateway.caughtUp()
    expect((await chat(who)).status).toBe(403)
    await gateway.operate('key.revoke', { key: who.keyId })
    await gateway.caughtUp()
    expect((await chat(who)).status).toBe(401)
  })

  test('answers of a drained provider are served no more', async () => {
    const who = await member()
    const first = await kept(() => chat(who, { model: 'lied' }))
    expect(said(await chat(who, { model: 'lied' }))).toBe(said(first))
    await gateway.operate('provider.state', { id: 'other', state: 'drained' })
    await gateway.caughtUp()
    const honest = await chat(who, { model: 'lied' })
    expect([honest.cache, said(honest) === said(first)]).toEqual(['miss', false])
  })
})
