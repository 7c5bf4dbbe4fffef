import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateObject, generateText, stepCountIs, streamText, tool, type LanguageModel } from 'ai'
import OpenAI from 'openai-6'
import { zodResponseFormat } from 'openai-6/helpers/zod'
import OpenAI7 from 'openai-7'
import { zodResponseFormat as zodResponseFormat7 } from 'openai-7/helpers/zod'
import { z } from 'zod'

/**
 * The official SDKs straight at the sandbox, in a process of its own: what they accept, the gateway may rely on. And a
 * raw socket, for what the SDKs hide: where exactly a broken answer breaks.
 */
const ENTRY = `
  import { startSandbox } from './sandbox/server.ts'
  console.log(startSandbox({ paceMs: 0, apiKey: 'sk-test' }).url)
`
const counters = z.object({
  completed: z.int(),
  aborted: z.int(),
  in_flight: z.int(),
  tokens_streamed_aborted: z.int(),
  models: z.record(z.string(), z.int()),
})
const weatherInput = z.object({ city: z.string(), unit: z.enum(['celsius', 'fahrenheit']) })
const person = z.object({ name: z.string(), age: z.int().min(0), tags: z.array(z.string()) })

let url = ''
let child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>

beforeAll(async () => {
  child = Bun.spawn([process.execPath, '-e', ENTRY], {
    cwd: `${import.meta.dir}/../..`,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await child.stdout.getReader().read()
  url = new TextDecoder().decode(value).trim()
})

afterAll(async () => {
  child.kill()
  await child.exited
})

async function stats(): Promise<z.output<typeof counters>> {
  const response = await fetch(new URL('/sandbox/stats', url), { headers: { authorization: 'Bearer sk-test' } })
  return counters.parse(await response.json())
}

/** Waits for counters that follow a hang-up, which the server learns of a moment later. */
async function statsOnce(isDone: (seen: z.output<typeof counters>) => boolean): Promise<z.output<typeof counters>> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const seen = await stats()
    if (isDone(seen)) return seen
    await Bun.sleep(10)
  }
  throw new Error(`The sandbox did not get there: ${JSON.stringify(await stats())}`)
}

const ask = (content: string): { role: 'user'; content: string } => ({ role: 'user', content })

/** The two majors have the same surface here, but private members keep their types apart. */
const SDKS = [
  {
    name: 'openai 6',
    connect: (): OpenAI => new OpenAI({ baseURL: url, apiKey: 'sk-test', maxRetries: 0 }),
    zodResponseFormat,
  },
  {
    name: 'openai 7',
    connect: (): OpenAI => new OpenAI7({ baseURL: url, apiKey: 'sk-test', maxRetries: 0 }) as unknown as OpenAI,
    zodResponseFormat: zodResponseFormat7,
  },
]

describe.each(SDKS)('$name', ({ connect, zodResponseFormat: responseFormat }) => {
  const model = 'sandbox-chat'

  test('models', async () => {
    const client = connect()
    const ids = (await client.models.list()).data.map(({ id }) => id)
    expect(ids).toContain('sandbox-mini')
    expect(await client.models.retrieve('sandbox-mini')).toMatchObject({ object: 'model', owned_by: 'sandbox' })
  })

  test('text, usage and request id', async () => {
    const completion = await connect().chat.completions.create({ model, messages: [ask('Say exactly: Hello, world!')] })
    expect(completion.choices[0]?.message.content).toBe('Hello, world!')
    expect(completion.usage).toMatchObject({ completion_tokens: 4 })
    expect(completion._request_id).toStartWith('req_')
  })

  test('several choices, stop and max_tokens', async () => {
    const client = connect()
    const two = await client.chat.completions.create({ model, messages: [ask('Hi')], n: 2 })
    expect(two.choices.map(({ index }) => index)).toEqual([0, 1])
    const stopped = await client.chat.completions.create({ model, messages: [ask('Say exactly: a, b')], stop: [','] })
    expect(stopped.choices[0]).toMatchObject({ message: { content: 'a' }, finish_reason: 'stop' })
    const cut = await client.chat.completions.create({
      model,
      messages: [ask('Write 9 tokens')],
      max_completion_tokens: 5,
    })
    expect(cut).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 5 } })
  })

  test('stream with usage', async () => {
    const messages = [ask('Write 50 tokens')]
    const options = { model, messages, stream: true, stream_options: { include_usage: true } } as const
    let chunks = 0
    let usage: unknown
    for await (const chunk of await connect().chat.completions.create(options)) {
      if (chunk.choices[0]?.delta.content) chunks += 1
      usage = chunk.usage
    }
    expect(chunks).toBe(50)
    expect(usage).toMatchObject({ completion_tokens: 50 })
  })

  test('stream helper with log probabilities', async () => {
    const stream = connect().chat.completions.stream({ model, messages: [ask('Hi')], logprobs: true, top_logprobs: 2 })
    const { choices } = await stream.finalChatCompletion()
    const [choice] = choices
    const tokens = choice?.logprobs?.content?.map(({ token }) => token)
    expect(tokens?.join('')).toBe(choice?.message.content ?? '?')
  })

  test('tools: call, answer, text', async () => {
    const parameters = z.toJSONSchema(weatherInput)
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters, strict: true } } as const]
    const question = ask('What is the weather in both Oslo and Rome, in fahrenheit?')
    const client = connect()
    const first = await client.chat.completions.create({ model, messages: [question], tools })
    const message = first.choices[0]?.message
    const streamed = client.chat.completions.stream({ model, messages: [question], tools })
    const strip = (calls: readonly object[] = []): unknown => calls.map((call) => ({ ...call, id: '', parsed: '' }))
    expect(strip((await streamed.finalMessage()).tool_calls)).toMatchObject(Object(strip(message?.tool_calls)))
    if (!message?.tool_calls) throw new Error('No tool was called')
    const results = message.tool_calls.map((call) => {
      if (call.type !== 'function') throw new Error('Not a function')
      const { city, unit } = weatherInput.parse(JSON.parse(call.function.arguments))
      return { role: 'tool', tool_call_id: call.id, content: `${city}: 41 ${unit}` } as const
    })
    const second = await client.chat.completions.create({ model, messages: [question, message, ...results], tools })
    expect(second.choices[0]?.message.content).toContain('Oslo: 41 fahrenheit')
    expect(second.choices[0]?.message.content).toContain('Rome: 41 fahrenheit')
  })

  test('structured output', async () => {
    const format = responseFormat(person, 'person')
    const messages = [ask('Ada is 36 years old')]
    const completion = await connect().chat.completions.parse({ model, messages, response_format: format })
    expect(completion.choices[0]?.message.parsed).toMatchObject({ name: 'Ada', age: 36 })
  })

  test('errors arrive with their class, code and param', async () => {
    const client = connect()
    const failing = (options: object): Promise<unknown> =>
      client.chat.completions.create({ model, messages: [ask('Hi')], ...options }).catch((error: unknown) => error)
    expect(await failing({ temperature: 3 })).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'temperature',
    })
    expect(await failing({ model: 'gpt-none' })).toMatchObject({ status: 404, code: 'model_not_found' })
    expect(await failing({ model: 'sandbox-chat!status=503' })).toMatchObject({
      status: 503,
      code: 'server_is_overloaded',
    })
    const stranger = client
      .withOptions({ apiKey: 'sk-wrong' })
      .models.list()
      .catch((error: unknown) => error)
    expect(await stranger).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })

  test('a failure that passes is retried', async () => {
    const flaky = `sandbox-chat!status=429,retry-after=0,failTimes=1,delayMs=${connect === SDKS[0]?.connect ? 1 : 2}`
    const client = connect().withOptions({ maxRetries: 2 })
    const completion = await client.chat.completions.create({ model: flaky, messages: [ask('Hi')] })
    expect(completion.choices[0]?.finish_reason).toBe('stop')
    expect((await stats()).models[flaky]).toBe(2)
  })

  test.each(['errorEvent=3', 'cutAfterBytes=700'])('a stream with %s throws', async (fault) => {
    const messages = [ask('Write 50 tokens')]
    const stream = await connect().chat.completions.create({ model: `sandbox-chat!${fault}`, messages, stream: true })
    const read = async (): Promise<void> => {
      for await (const _ of stream);
    }
    expect(await read().catch((error: unknown) => error)).toBeInstanceOf(Error)
  })

  test('a client that hangs up is noticed, and nothing more is written', async () => {
    const before = await stats()
    const slow = { model: 'sandbox-chat!pace=5', messages: [ask('Write 500 tokens')] }
    let seen = 0
    for await (const chunk of await connect().chat.completions.create({ ...slow, stream: true })) {
      if (chunk.choices[0]?.delta.content) seen += 1
      if (seen === 10) break
    }
    const after = await statsOnce(({ aborted, in_flight }) => aborted === before.aborted + 1 && in_flight === 0)
    expect(after.tokens_streamed_aborted - before.tokens_streamed_aborted).toBeWithin(10, 40)
  })
})

const PROVIDERS: { name: string; connect: (id?: string) => LanguageModel }[] = [
  {
    name: '@ai-sdk/openai',
    connect: (id = 'sandbox-chat') => createOpenAI({ baseURL: url, apiKey: 'sk-test' }).chat(id),
  },
  {
    name: '@ai-sdk/openai-compatible',
    connect: (id = 'sandbox-chat') => {
      const options = { name: 'sandbox', baseURL: url, apiKey: 'sk-test', includeUsage: true }
      return createOpenAICompatible({ ...options, supportsStructuredOutputs: true })(id)
    },
  },
]

describe.each(PROVIDERS)('$name', ({ connect }) => {
  test('text', async () => {
    const { text, usage, finishReason } = await generateText({ model: connect(), prompt: 'Say exactly: Hello' })
    expect({ text, finishReason }).toEqual({ text: 'Hello', finishReason: 'stop' })
    expect(usage.outputTokens).toBe(1)
  })

  test('stream with usage', async () => {
    const stream = streamText({ model: connect(), prompt: 'Write 40 tokens', maxOutputTokens: 30 })
    const pieces = await Array.fromAsync(stream.textStream)
    expect(pieces).toHaveLength(30)
    expect(await stream.finishReason).toBe('length')
    expect((await stream.usage).outputTokens).toBe(30)
  })

  test.each(['generated', 'streamed'])('a round of tools, %s', async (mode) => {
    const execute = ({ city, unit }: z.output<typeof weatherInput>): string => `${city} has 7 ${unit}`
    const weather = tool({ description: 'Weather of a city', inputSchema: weatherInput, execute })
    const options = { model: connect(), tools: { weather }, stopWhen: stepCountIs(3), prompt: 'Celsius in Oslo?' }
    const text = mode === 'generated' ? (await generateText(options)).text : await streamText(options).text
    expect(text).toBe('According to weather: Oslo has 7 celsius')
  })

  test('structured output', async () => {
    const { object } = await generateObject({ model: connect(), schema: person, prompt: 'Grace is 85' })
    expect(object).toMatchObject({ name: 'Grace', age: 85 })
  })

  test('errors', async () => {
    const failed = generateText({ model: connect('gpt-none'), prompt: 'Hi' }).catch((error: unknown) => error)
    expect(await failed).toBeInstanceOf(APICallError)
    expect(await failed).toMatchObject({ statusCode: 404, isRetryable: false })
  })

  test('an error event in the middle of a stream', async () => {
    const errors: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void errors.push(error)
    const stream = streamText({ model: connect('sandbox-chat!errorEvent=5'), prompt: 'Write 20 tokens', onError })
    expect((await Array.fromAsync(stream.textStream)).length).toBeLessThan(5)
    expect(errors).toHaveLength(1)
  })
})

describe('on the socket', () => {
  const authorization = 'Bearer sk-test'
  const question = { model: 'sandbox-chat', messages: [ask('Write 4 tokens')] }

  /** How a connection looks from outside: the body with its chunk boundaries removed, and how it ended. */
  type SeenRequest = { head: string; chunks: string[]; isWhole: boolean; isReset: boolean }

  function exchange(fault: string, body?: object): Promise<SeenRequest> {
    const payload = body ? JSON.stringify(body) : ''
    const start = body ? 'POST /v1/chat/completions HTTP/1.1' : 'GET /v1/models HTTP/1.1'
    const fields = [`host: sandbox`, `authorization: ${authorization}`, `x-sandbox-fault: ${fault}`]
    if (body) fields.push(`content-length: ${payload.length}`)
    const { promise, resolve } = Promise.withResolvers<SeenRequest>()
    let received = ''
    let isReset = false
    const finish = (): void => resolve({ ...parse(received), isReset })
    void Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(url).port),
      socket: {
        open: (socket) =>
          void socket.write(`${[start, ...fields].join('\r\n')}\r\nconnection: close\r\n\r\n${payload}`),
        data: (_, data) => void (received += data.toString('latin1')),
        close: (_, error) => {
          isReset = error?.message.includes('ECONNRESET') ?? false
          finish()
        },
      },
    })
    return promise
  }

  function parse(received: string): Omit<SeenRequest, 'isReset'> {
    const [head = '', ...rest] = received.split('\r\n\r\n')
    let body = rest.join('\r\n\r\n')
    const chunks: string[] = []
    if (!/transfer-encoding: chunked/i.test(head)) return { head, chunks: [body], isWhole: body !== '' }
    for (;;) {
      const size = /^([0-9a-f]+)\r\n/i.exec(body)
      const bytes = Number.parseInt(size?.[1] ?? '', 16)
      if (!size || bytes === 0 || Number.isNaN(bytes)) return { head, chunks, isWhole: bytes === 0 }
      chunks.push(body.slice(size[0].length, size[0].length + bytes))
      body = body.slice(size[0].length + bytes + 2)
    }
  }

  const control = (method: string, body?: object): Promise<Response> =>
    fetch(new URL('/sandbox/faults', url), {
      method,
      headers: { authorization },
      ...(body && { body: JSON.stringify(body) }),
    })

  test('each event of a stream is one chunk', async () => {
    const { chunks, isWhole, head } = await exchange('', { ...question, stream: true })
    expect(head).toContain('x-request-id: req_')
    expect(isWhole).toBeTrue()
    expect(chunks).toHaveLength(7)
    for (const chunk of chunks) expect(chunk).toMatch(/^data: .*\n\n$/)
  })

  test('a cut falls on exactly the byte that was asked for, in a body and in a stream', async () => {
    const models = (await exchange('')).chunks.join('')
    const stream = (await exchange('', { ...question, stream: true })).chunks.join('')
    const cutModels = Array.from(models, async (_, index) => {
      const seen = await exchange(`cutAfterBytes=${index + 1}`)
      expect(seen).toMatchObject({ isWhole: false, isReset: true })
      expect(seen.chunks.join('')).toBe(models.slice(0, index + 1))
    })
    await Promise.all(cutModels)
    for (let bytes = 1; bytes <= stream.length; bytes += 41) {
      const seen = await exchange(`cutAfterBytes=${bytes},pace=${bytes % 2}`, { ...question, stream: true })
      expect(seen).toMatchObject({ isWhole: false, isReset: true })
      expect(seen.chunks.join('')).toHaveLength(bytes)
    }
  })

  test.each(['acceptThenClose', 'cutAfterBytes=0'])('%s: a reset without a byte', async (fault) => {
    expect(await exchange(fault, question)).toEqual({ head: '', chunks: [''], isWhole: false, isReset: true })
  })

  test('a stall falls silent after so many events, and goes on', async () => {
    const started = performance.now()
    const { chunks } = await exchange('stallAfterEvents=2,stallMs=60', { ...question, stream: true })
    expect(performance.now() - started).toBeGreaterThanOrEqual(59)
    expect(chunks).toHaveLength(7)
    expect((await exchange('stallMs=1', { ...question, stream: true })).chunks[0]).toBe(': stalled\n')
  })

  test('an empty stream, one without [DONE], one of junk, one that fails', async () => {
    const streamed = { ...question, stream: true }
    expect(await exchange('emptyStream', streamed)).toMatchObject({ chunks: [''], isReset: false })
    expect((await exchange('noDone', streamed)).chunks.join('')).not.toContain('[DONE]')
    const junk = (await exchange('garbage', streamed)).chunks[0]?.slice(6) ?? ''
    expect(() => JSON.parse(junk)).toThrow()
    const { chunks } = await exchange('errorEvent=2', streamed)
    expect(chunks).toHaveLength(2)
    expect(JSON.parse(chunks[1]?.slice(6) ?? '')).toMatchObject({ error: { type: 'server_error', param: null } })
  })

  test('a client that leaves while it is made to wait is counted as aborted', async () => {
    const { aborted } = await stats()
    const headers = { authorization, 'x-sandbox-fault': 'delayMs=60000' }
    const waiting = { method: 'POST', headers, body: JSON.stringify(question), signal: AbortSignal.timeout(20) }
    expect(await fetch(`${url}/chat/completions`, waiting).catch((error: unknown) => error)).toBeInstanceOf(Error)
    await statsOnce((seen) => seen.aborted === aborted + 1 && seen.in_flight === 0)
  })

  test('default faults are set and cleared at run time; a misspelt one is refused', async () => {
    const status = async (): Promise<number> => (await fetch(`${url}/models`, { headers: { authorization } })).status
    expect((await control('POST', { status: 503, retryAfter: 2 })).status).toBe(200)
    const failed = await fetch(`${url}/models`, { headers: { authorization } })
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '2'])
    expect((await control('POST', { statsu: 500 })).status).toBe(400)
    expect(await status()).toBe(503)
    await control('DELETE')
    expect(await status()).toBe(200)
    expect((await exchange('statsu=500', question)).chunks[0]).toContain('invalid_fault')
  })

  test.each([
    ['GET', '/nothing', 404, 'not_found'],
    ['GET', '/chat/completions', 405, 'method_not_allowed'],
    ['GET', '/models/org%2Fnone', 404, 'model_not_found'],
    ['POST', '/chat/completions', 400, 'invalid_json'],
  ])('%s %s answers %d in the envelope', async (method, path, status, code) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization },
      ...(method === 'POST' && { body: '{' }),
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/json'])
    expect(response.headers.get('x-request-id')).toStartWith('req_')
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code } })
  })
})
