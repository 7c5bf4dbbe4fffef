/** Google's SDK → gateway → a vendor of its own dialect, and one that speaks chat; OpenAI's → gateway → Gemini. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, ThinkingLevel, type Content } from '@google/genai'
import OpenAI from 'openai-6'
import type { ChatCompletionMessageParam } from 'openai-6/resources/chat/completions'
import { countOf } from '../support/soaks.ts'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'

const SILENCE_MS = countOf('gemini-silences') * 1_000

/** What the upstream model behind a public one does. */
const faults: Readonly<Record<string, string>> = {
  'org/pro': '',
  slow: '!pace=20',
  'fails-500': '!status=500',
  'fails-429': '!status=429,retry-after=1',
  'fails-401': '!status=401',
  rejects: '!status=400',
  breaks: '!errorEvent=8',
  cut: '!cutAfterBytes=4000,pace=2',
  'no-usage': '!noUsage',
  'wrong-usage': '!wrongUsage',
  late: `!delayMs=${SILENCE_MS}`,
}

let sandbox: TestSandbox
let gateway: TestGateway
/** What is asked of vendors that are silent for long, begun before all else: the other tests pass meanwhile. */
let longSilent: Promise<readonly PromiseSettledResult<string>[]>

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  const base = new URL(sandbox.baseUrl).origin
  const models = ['gemini', 'chat'].flatMap((provider) =>
    Object.entries(faults).map(
      ([id, fault]) =>
        `  ${provider}/${id}: { price: { input: 1, output: 2, reasoning: 3 }, offers: [{ provider: ${provider}, model: 'sandbox-chat${fault}' }] }`,
    ),
  )
  gateway = await startGateway({
    // At worst a heartbeat comes after two of its times: as ten seconds are to a silence of twenty-one. It begins an
    // answer, which must come after the gateway has asked once more.
    env: { TOLLGATE_HEARTBEAT_MS: String(Math.round(SILENCE_MS / 2.1)) },
    yaml: [
      'sandbox: false',
      'providers:',
      `  gemini: { preset: gemini, base_url: '${base}/v1beta', allow_private: true, key: 'k' }`,
      `  chat: { base_url: '${sandbox.baseUrl}', allow_private: true }`,
      'models:',
      ...models,
    ].join('\n'),
  })
  longSilent = Promise.allSettled(await askLate())
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
})

const google = (apiKey = gateway.key, apiVersion = 'v1beta'): GoogleGenAI =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: new URL(gateway.baseUrl).origin, apiVersion } })
const openai = (): OpenAI => new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0 })
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)

type StoredRecord = Readonly<
  Record<'endpoint' | 'model' | 'outcome' | 'charged' | 'usage_source' | 'error_code' | 'provider', string>
>

/** The newest record, once nothing is under way; of this model, if one is named. */
async function lastRecord(model?: string): Promise<StoredRecord> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { held_nano_usd: held } = await gateway.operate<{ held_nano_usd: string }>('account.show', {
      account: gateway.accountId,
    })
    const [record] = await gateway.operate<StoredRecord[]>('request.list', { account: gateway.accountId, limit: 1 })
    if (held === '0' && record && (model === undefined || record.model === model)) return record
    await Bun.sleep(20)
  }
  throw new Error('no record')
}

/** What a usage costs in nano-USD, at 1 / 2 / 3 dollars a million. */
const costOf = (input: number, text: number, thoughts = 0): string =>
  String(input * 1_000 + text * 2_000 + thoughts * 3_000)

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tools = [
  {
    functionDeclarations: [
      { name: 'get_weather', description: 'The weather of a city', parametersJsonSchema: parameters },
    ],
  },
]
const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, kind: { const: 'person' } },
  required: ['name', 'age', 'kind'],
  additionalProperties: false,
}

describe.each(['gemini', 'chat'])('@google/genai, upstream %s', (upstream) => {
  const model = `${upstream}/org/pro`

  test('text, its usage, its price and its record', async () => {
    for (const [version, id] of [
      ['v1beta', model],
      ['v1', model],
      ['v1beta', `models/${model}`],
    ] as const) {
      const reply = await google(gateway.key, version).models.generateContent({
        model: id,
        contents: 'Say exactly: Grüße, 世界!',
        config: { systemInstruction: 'Be brief.', temperature: 0.5, maxOutputTokens: 500 },
      })
      expect(reply.text).toBe('Grüße, 世界!')
      expect(reply.modelVersion).toBe(model)
      expect(reply.candidates?.[0]?.finishReason).toBe('STOP' as never)
      const { promptTokenCount = 0, candidatesTokenCount = 0, totalTokenCount } = reply.usageMetadata ?? {}
      expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount)
      expect(await lastRecord()).toMatchObject({
        endpoint: 'gemini',
        outcome: 'completed',
        usage_source: 'reported',
        charged: costOf(promptTokenCount, candidatesTokenCount),
      })
    }
  })

  test('a stream, and its limit', async () => {
    const stream = await google().models.generateContentStream({
      model,
      contents: 'Write 50 tokens',
      config: { maxOutputTokens: 40 },
    })
    const chunks = await Array.fromAsync(stream)
    expect(chunks.filter(({ text }) => text)).toHaveLength(40)
    expect(new Set(chunks.map(({ modelVersion }) => modelVersion))).toEqual(new Set([model]))
    const last = chunks.at(-1)
    expect(last?.candidates?.[0]?.finishReason).toBe('MAX_TOKENS' as never)
    expect(last?.usageMetadata?.candidatesTokenCount).toBe(40)
    expect((await lastRecord()).charged).toBe(costOf(last?.usageMetadata?.promptTokenCount ?? 0, 40))
  })

  test('thoughts have a count and a price of their own', async () => {
    const thinkingConfig = { thinkingLevel: ThinkingLevel.HIGH, includeThoughts: true }
    const reply = await google().models.generateContent({
      model,
      contents: 'Write 10 tokens',
      config: { thinkingConfig },
    })
    expect(reply.usageMetadata).toMatchObject({ candidatesTokenCount: 10, thoughtsTokenCount: 32 })
    expect((await lastRecord()).charged).toBe(costOf(reply.usageMetadata?.promptTokenCount ?? 0, 10, 32))
  })

  test.each(['whole', 'streamed'])('parallel tools and back, %s', async (mode) => {
    const question: Content = { role: 'user', parts: [{ text: 'What is the weather in both Oslo and Rome?' }] }
    const ask = async (contents: Content[]): Promise<Content> => {
      const request = { model, contents, config: { tools } }
      if (mode === 'whole') return (await google().models.generateContent(request)).candidates?.[0]?.content ?? {}
      const chunks = await Array.fromAsync(await google().models.generateContentStream(request))
      return { role: 'model', parts: chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []) }
    }
    const answer = await ask([question])
    const calls = (answer.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
    expect(calls).toMatchObject([{ args: { city: 'Oslo' } }, { args: { city: 'Rome' } }])
    const results = calls.map(({ id, name = '', args }) => ({
      functionResponse: { ...(id && { id }), name, response: { output: `${String(args?.['city'])} has 7 degrees` } },
    }))
    const told = await ask([question, answer, { role: 'user', parts: results }])
    const text = told.parts?.map((part) => part.text ?? '').join('')
    expect(text).toContain('Oslo has 7 degrees')
    expect(text).toContain('Rome has 7 degrees')
  })

  test('a forced tool, structured output and an image', async () => {
    const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['get_weather'] }
    const forced = await google().models.generateContent({
      model,
      contents: 'Hello',
      config: { tools, toolConfig: { functionCallingConfig } },
    })
    expect(forced.functionCalls).toMatchObject([{ name: 'get_weather' }])
    const structured = await google().models.generateContent({
      model,
      contents: 'Ada is 36',
      config: { responseMimeType: 'application/json', responseJsonSchema: person },
    })
    expect(JSON.parse(structured.text ?? '')).toEqual({ name: 'Ada', age: 36, kind: 'person' })
    const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
    const seen = await google().models.generateContent({ model, contents: [{ text: 'What is this?' }, image] })
    expect(seen.text).toContain('1 image (image/png)')
  })

  test('tokens are counted for nothing', async () => {
    const before = await lastRecord()
    const { totalTokens } = await google().models.countTokens({ model, contents: 'one two three four' })
    expect(totalTokens).toBeWithin(4, 12)
    expect(await lastRecord()).toEqual(before)
    expect(await caught(google().models.countTokens({ model: 'none', contents: 'x' }))).toMatchObject({ status: 404 })
  })

  test.each([
    ['fails-500', 502, 'UNAVAILABLE'],
    ['fails-429', 503, 'UNAVAILABLE'],
    ['fails-401', 503, 'UNAVAILABLE'],
    ['rejects', 400, 'INVALID_ARGUMENT'],
    ['none', 404, 'NOT_FOUND'],
  ])('%s answers %d', async (id, status, name) => {
    for (const method of ['generateContent', 'generateContentStream'] as const) {
      const failed = await caught(google().models[method]({ model: `${upstream}/${id}`, contents: 'Hi' }))
      expect(failed).toBeInstanceOf(ApiError)
      expect((failed as ApiError).status).toBe(status)
      const { error } = JSON.parse((failed as ApiError).message) as { error: object }
      expect(error).toMatchObject({ code: status, status: name })
      expect(error).toHaveProperty('details.0.domain', 'tollgate')
    }
  })

  test.each(['breaks', 'cut'])('a stream that %s in the middle throws, and what came is charged', async (id) => {
    const stream = await google().models.generateContentStream({
      model: `${upstream}/${id}`,
      contents: 'Write 90 tokens',
    })
    const texts: unknown[] = []
    const read = async (): Promise<void> => {
      for await (const { text } of stream) texts.push(text)
    }
    expect(await caught(read())).toMatchObject({ status: 502 })
    expect(texts.length).toBeGreaterThan(2)
    const record = await lastRecord(`${upstream}/${id}`)
    expect(record).toMatchObject({ outcome: 'cut', error_code: 'upstream_error' })
    expect(BigInt(record.charged)).toBeGreaterThan(0n)
  })

  test('a client that leaves pays for what came', async () => {
    const abort = new AbortController()
    const stream = await google().models.generateContentStream({
      model: `${upstream}/slow`,
      contents: 'Write 500 tokens',
      config: { abortSignal: abort.signal },
    })
    let seen = 0
    await caught(
      (async () => {
        for await (const { text } of stream) if (text && ++seen === 10) abort.abort()
      })(),
    )
    const record = await lastRecord(`${upstream}/slow`)
    expect(record).toMatchObject({ outcome: 'client_closed' })
    expect(Number(record.charged)).toBeWithin(20_000, 200_000)
  })

  test('usage that the vendor leaves out is estimated, one that does not add up is put right', async () => {
    for (const method of ['whole', 'streamed']) {
      for (const id of ['no-usage', 'wrong-usage']) {
        const request = { model: `${upstream}/${id}`, contents: 'Write 20 tokens' }
        const { usageMetadata } =
          method === 'whole'
            ? await google().models.generateContent(request)
            : ((await Array.fromAsync(await google().models.generateContentStream(request))).at(-1) ??
              expect.unreachable())
        const { promptTokenCount = 0, candidatesTokenCount = 0, totalTokenCount } = usageMetadata ?? {}
        expect(candidatesTokenCount).toBeGreaterThan(10)
        expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount)
        expect(await lastRecord()).toMatchObject({
          charged: costOf(promptTokenCount, candidatesTokenCount),
          usage_source: id === 'no-usage' ? 'estimated' : 'reported',
        })
      }
    }
  })
})

describe('the edge', () => {
  const origin = (): string => new URL(gateway.baseUrl).origin
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(origin() + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': gateway.key, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const hi = { contents: [{ parts: [{ text: 'Say exactly: hi' }] }] }
  const path = '/v1beta/models/gemini/org/pro:generateContent'

  test('the model may be written raw, encoded or with its prefix; the key may be in the address', async () => {
    for (const way of [
      path,
      '/v1beta/models/gemini%2Forg%2Fpro:generateContent',
      '/v1/models/models/gemini/org/pro:generateContent',
    ]) {
      expect((await post(way, hi)).status).toBe(200)
    }
    expect((await post(`${path}?key=${gateway.key}`, hi, { 'x-goog-api-key': '' })).status).toBe(401)
    const response = await fetch(`${origin()}${path}?key=${gateway.key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(hi),
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-tollgate-cost-usd')).not.toBeNull()
  })

  test.each([
    ['no JSON', '{', 400, 'INVALID_JSON'],
    ['no contents', {}, 400, 'MISSING_REQUIRED_PARAMETER'],
    ['a wrong type', { contents: [{ parts: [{ text: 1 }] }] }, 400, 'INVALID_TYPE'],
    ['a hidden limit', { ...hi, generationConfig: { maxoutputtokens: 9 } }, 400, 'UNSUPPORTED_PARAMETER'],
    ['two spellings', { ...hi, generationConfig: {}, generation_config: {} }, 400, 'INVALID_JSON'],
    ['a twice given limit', '{"contents":[{"parts":[]}],"generationConfig":{"topK":1,"topK":2}}', 400, 'INVALID_JSON'],
    ['a search', { ...hi, tools: [{ googleSearch: {} }] }, 400, 'UNSUPPORTED_PARAMETER'],
    ['a cache', { ...hi, cachedContent: 'cachedContents/1' }, 400, 'UNSUPPORTED_PARAMETER'],
    [
      'a film by address',
      { contents: [{ parts: [{ fileData: { fileUri: 'https://youtu.be/x' } }] }] },
      400,
      'UNSUPPORTED_PARAMETER',
    ],
    [
      'a picture as the answer',
      { ...hi, generation_config: { response_modalities: ['IMAGE'] } },
      400,
      'UNSUPPORTED_PARAMETER',
    ],
  ])('%s is refused in the envelope', async (_, body, status, reason) => {
    const response = await post(path, body)
    expect(response.status).toBe(status)
    const { error } = (await response.json()) as { error: object }
    expect(error).toMatchObject({ code: status, status: 'INVALID_ARGUMENT' })
    expect(error).toHaveProperty('details.0.reason', reason)
  })

  test('a stream that is not asked for as events is refused with the word that is missing', async () => {
    const response = await post(path.replace(':generate', ':streamGenerate'), hi)
    const body = (await response.json()) as { error: { message: string } }
    expect(response.status).toBe(400)
    expect(body.error.message).toContain('alt=sse')
  })

  test('a wrong key, an empty account and a spent limit', async () => {
    expect(await caught(google('sk-tg-none').models.generateContent({ model: 'x', contents: 'x' }))).toMatchObject({
      status: 401,
    })
    await gateway.operate('account.create', { name: 'poor', balance: '0.000001' })
    const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: 'poor', name: 'k' })
    const failed = await caught(google(secret).models.generateContent({ model: 'gemini/org/pro', contents: 'x' }))
    expect(failed).toMatchObject({ status: 402, message: expect.stringContaining('INSUFFICIENT_BALANCE') })
  })

  test('the snake spelling of everything works, and its limit holds', async () => {
    const response = await post(path, {
      system_instruction: { parts: { text: 'Be brief.' } },
      contents: [{ parts: [{ text: 'Write 50 tokens' }] }],
      generation_config: { max_output_tokens: 7 },
    })
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { candidates: [{ finishReason: 'MAX_TOKENS' }], usageMetadata: { candidatesTokenCount: 7 } },
    ])
  })
})

/** By an account of its own: the other tests look at the records of theirs. Resolves once both are under way. */
async function askLate(): Promise<Promise<string>[]> {
  const { id: account } = await gateway.operate<{ id: string }>('account.create', { name: 'patient', balance: '1' })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account, name: 'k' })
  return ['gemini/late', 'chat/late'].map(async (model) => {
    const stream = await google(secret).models.generateContentStream({ model, contents: 'Say exactly: at last' })
    return (await Array.fromAsync(stream)).map(({ text }) => text ?? '').join('')
  })
}

test(
  'a stream that is long silent is kept alive by comments the SDK reads past',
  async () => {
    const heard = { status: 'fulfilled', value: 'at last' } as const
    expect(await longSilent).toEqual([heard, heard])
  },
  20_000 + 2 * SILENCE_MS,
)

describe('openai 6, upstream gemini', () => {
  const model = 'gemini/org/pro'
  const ask = (content: string): ChatCompletionMessageParam[] => [{ role: 'user', content }]

  test('text, usage, thoughts and the price, whole and streamed', async () => {
    const body = { model, messages: ask('Write 20 tokens'), reasoning_effort: 'high', seed: 7 } as const
    const whole = await openai().chat.completions.create(body)
    expect(whole).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ finish_reason: 'stop', message: { role: 'assistant', reasoning_content: 'Weighing the words.' } }],
      usage: { completion_tokens: 52, completion_tokens_details: { reasoning_tokens: 32 } },
    })
    const charged = costOf(whole.usage?.prompt_tokens ?? 0, 20, 32)
    expect(await lastRecord()).toMatchObject({ charged, endpoint: 'chat.completions' })
    const stream = openai().chat.completions.stream({ ...body, stream_options: { include_usage: true } })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content ?? '?')
    expect(final.usage).toEqual(whole.usage)
    expect((await lastRecord()).charged).toBe(charged)
  })

  const chatTools = [{ type: 'function' as const, function: { name: 'get_weather', parameters, strict: true } }]

  test.each(['whole', 'streamed'])('parallel tools and back, %s: the signature survives', async (mode) => {
    const question = ask('What is the weather in both Oslo and Rome?')
    const client = openai()
    const first =
      mode === 'whole'
        ? await client.chat.completions.create({ model, messages: question, tools: chatTools })
        : await client.chat.completions.stream({ model, messages: question, tools: chatTools }).finalChatCompletion()
    const message = first.choices[0]?.message ?? expect.unreachable()
    expect(first.choices[0]?.finish_reason).toBe('tool_calls')
    const calls = message.tool_calls ?? []
    expect(calls).toHaveLength(2)
    expect(calls[0]).toMatchObject({ extra_content: { google: { thought_signature: expect.any(String) } } })
    const results = calls.map((call): ChatCompletionMessageParam => {
      if (call.type !== 'function') throw new Error('not a function')
      const { city } = JSON.parse(call.function.arguments) as { city: string }
      return { role: 'tool', tool_call_id: call.id, content: `${city}: 7` }
    })
    const again = { model, tools: chatTools, messages: [...question, message, ...results] }
    const second = await client.chat.completions.create(again)
    expect(second.choices[0]?.message.content).toContain('Rome: 7')
    // A client that drops what it does not know is served as well; one that hands back something else is not.
    const plain = calls.map(({ id, type, ...call }) => ({
      id,
      type,
      function: 'function' in call ? call.function : {},
    }))
    const forged = plain.map((call) => ({ ...call, extra_content: { google: { thought_signature: 'Zm9yZ2Vk' } } }))
    const served = async (tool_calls: unknown): Promise<unknown> =>
      caught(
        client.chat.completions.create({
          ...again,
          messages: [...question, { role: 'assistant', content: null, tool_calls } as never, ...results],
        }),
      )
    expect(await served(plain)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(await served(forged)).toMatchObject({ status: 400 })
  })

  test('structured output, an image and several choices', async () => {
    const structured = await openai().chat.completions.create({
      model,
      messages: ask('Ada is 36'),
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema: person, strict: true } },
    })
    expect(JSON.parse(structured.choices[0]?.message.content ?? '')).toEqual({ name: 'Ada', age: 36, kind: 'person' })
    const url = 'data:image/png;base64,iVBORw0KGgo='
    const image = { type: 'image_url', image_url: { url } } as const
    const seen = await openai().chat.completions.create({
      model,
      messages: [
        { role: 'system', content: 'Look.' },
        { role: 'user', content: [{ type: 'text', text: 'What?' }, image] },
      ],
      n: 2,
    })
    expect(seen.choices.map(({ message }) => message.content?.includes('1 image (image/png)'))).toEqual([true, true])
  })

  test('an image elsewhere is refused in words, a custom tool is called, what is dropped is named', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } } as const
    const messages = [{ role: 'user' as const, content: [image] }]
    expect(await caught(openai().chat.completions.create({ model, messages }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('data: URL'),
    })
    const custom = { type: 'custom', custom: { name: 'shout' } } as const
    const called = await openai().chat.completions.create({
      model,
      messages: ask('x'),
      tools: [custom],
      tool_choice: 'required',
    })
    expect(called.choices[0]?.message.tool_calls).toMatchObject([{ type: 'custom', custom: { name: 'shout' } }])
    const { response } = await openai()
      .chat.completions.create({ model, messages: ask('x'), logit_bias: {}, user: 'ada', seed: 2 ** 40 })
      .withResponse()
    expect(response.headers.get('x-tollgate-dropped')).toBe('logit_bias, seed, user')
  })

  test.each([
    ['fails-500', 502, 'upstream_error'],
    ['fails-429', 503, 'service_unavailable'],
    ['fails-401', 503, 'service_unavailable'],
    ['rejects', 400, 'invalid_value'],
  ])('%s answers %d', async (id, status, code) => {
    const failed = await caught(openai().chat.completions.create({ model: `gemini/${id}`, messages: ask('x') }))
    expect(failed).toMatchObject({ status, code })
  })

  test('a stream that breaks in the middle throws, and what came is charged', async () => {
    const body = { model: 'gemini/breaks', messages: ask('Write 90 tokens'), stream: true } as const
    const read = async (): Promise<void> => {
      for await (const _ of await openai().chat.completions.create(body));
    }
    expect(await caught(read())).toBeInstanceOf(OpenAI.APIError)
    expect(await lastRecord()).toMatchObject({ outcome: 'cut' })
  })
})
