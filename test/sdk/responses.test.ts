/** Official clients of `/v1/responses`, unmodified: client → gateway → sandbox vendor, which speaks chat. */
import { describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool, type LanguageModel } from 'ai'
import { OpenAI as OpenAI6 } from 'openai-6'
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseStreamEvent,
} from 'openai-6/resources/responses/responses'
import { OpenAI as OpenAI7 } from 'openai-7'
import { z } from 'zod'
import { setStage } from './stage.ts'
import { costOfRecord, type Bought, type Member } from './till.ts'

const stage = setStage()
const { gateway, join, expectPaid, recordsOf, expectBalance, requestsDuring } = stage

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVQIW2NgAAIAAAUAAR4f7BQAAAAASUVORK5C'
const weather = {
  type: 'function',
  name: 'weather',
  description: 'Weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
} as const

/** What a response says it used, as the till wants it. */
function bought({ id, usage }: Response): Bought {
  if (!usage) throw new Error('no usage')
  return {
    requestId: id.replace(/^resp_/, 'req_'),
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      completion_tokens_details: { reasoning_tokens: usage.output_tokens_details.reasoning_tokens },
    },
  }
}

describe.each([
  ['openai-6', OpenAI6],
  // The two majors have the same surface here, but private members keep their types apart.
  ['openai-7', OpenAI7 as unknown as typeof OpenAI6],
])('%s', (_, OpenAI) => {
  const connect = ({ key }: Pick<Member, 'key'>): OpenAI6 =>
    new OpenAI({ baseURL: gateway().baseUrl, apiKey: key, maxRetries: 0 })
  const base = { model: 'org/chat' } satisfies Partial<ResponseCreateParamsNonStreaming>

  test('text, whole and streamed, with usage that is what was paid', async () => {
    const me = await join()
    const client = connect(me)
    const whole = await client.responses.create({ ...base, input: 'Say exactly: Grüße, 世界!' })
    expect(whole.output_text).toBe('Grüße, 世界!')
    const events: ResponseStreamEvent[] = []
    for await (const event of await client.responses.create({
      ...base,
      input: 'Say exactly: Hi there',
      stream: true,
    })) {
      events.push(event)
    }
    expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((__, i) => i))
    const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))
    expect(deltas.join('')).toBe('Hi there')
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error(`it ended with ${last?.type}`)
    const stream = client.responses.stream({ ...base, input: 'Say exactly: put together' })
    const assembled = await stream.finalResponse()
    expect(assembled.output_text).toBe('put together')
    await expectPaid(me, [whole, last.response, assembled].map(bought))
  })

  test('a conversation of three turns, and a branch', async () => {
    const client = connect(await join())
    const one = await client.responses.create({ ...base, input: 'My name is Ada.' })
    const two = await client.responses.create({ ...base, input: 'My town is Oslo.', previous_response_id: one.id })
    const ask = (previous: Response, input: string) =>
      client.responses.create({ ...base, input, previous_response_id: previous.id })
    const three = await ask(two, 'What is my town?')
    expect(three.output_text).toBe('Your town is Oslo.')
    expect((await ask(three, 'What is my name?')).output_text).toBe('Your name is Ada.')
    expect((await ask(one, 'What is my town?')).output_text).toBe('You have not told me your town.')
    expect((await client.responses.retrieve(two.id)).output).toEqual(two.output)
    const items = await Array.fromAsync(client.responses.inputItems.list(two.id, { limit: 1 }))
    expect(items).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: 'My town is Oslo.' }] }])
    await client.responses.delete(one.id)
    const gone: unknown = await ask(two, 'Hello?').catch((error) => error)
    expect(gone).toMatchObject({ status: 400, code: 'previous_response_not_found', param: 'previous_response_id' })
    const counted = await client.responses.inputTokens.count({ ...base, input: 'Hello?' })
    expect(counted.input_tokens).toBeWithin(1, 20)
  })

  test('tools: the SDK’s own items are sent back, or the conversation remembers them', async () => {
    const me = await join()
    const client = connect(me)
    const question = { role: 'user', content: 'What is the weather in both Oslo and Rome?' } as const
    const asked = await client.responses.create({ ...base, input: [question], tools: [weather] })
    const results = asked.output.flatMap((item) => {
      if (item.type !== 'function_call') return []
      const { city } = JSON.parse(item.arguments) as { city: string }
      return [{ type: 'function_call_output', call_id: item.call_id, output: `${city} has 7 degrees` } as const]
    })
    expect(results).toHaveLength(2)
    const answer = 'According to weather: Oslo has 7 degrees\nAccording to weather: Rome has 7 degrees'
    const input = [question, ...asked.output, ...results]
    const stateless = await client.responses.create({ ...base, input: input as never, tools: [weather] })
    expect(stateless.output_text).toBe(answer)
    const chained = { ...base, input: results, tools: [weather], previous_response_id: asked.id }
    const stateful = await client.responses.create(chained)
    expect(stateful.output_text).toBe(answer)
    const custom = await client.responses.create({
      ...base,
      input: 'Go.',
      tools: [{ type: 'custom', name: 'shell', description: 'Runs anything.' }],
      tool_choice: { type: 'custom', name: 'shell' },
    })
    expect(custom.output[0]).toMatchObject({ type: 'custom_tool_call', name: 'shell' })
    await expectPaid(me, [asked, stateless, stateful, custom].map(bought))
  })

  test('structured output, vision and a file', async () => {
    const client = connect(await join())
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    }
    const format = { type: 'json_schema', name: 'person', schema, strict: true } as const
    const parsed = await client.responses.parse({ ...base, input: 'Grace is 85', text: { format } })
    expect(parsed.output_parsed).toMatchObject({ name: 'Grace', age: 85 })
    const content = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' },
      { type: 'input_file', file_data: `data:application/pdf;base64,${PIXEL}`, filename: 'a.pdf' },
    ] as const
    const seen = await client.responses.create({ ...base, input: [{ role: 'user', content: [...content] }] })
    expect(seen.output_text).toContain('1 image (image/png)')
    expect(seen.output_text).toContain('a.pdf')
  })

  test('store: false, and in the background: polled, followed from the middle, called off', async () => {
    const me = await join()
    const client = connect(me)
    const unstored = await client.responses.create({ ...base, input: 'Hi', store: false })
    const gone: unknown = await client.responses.retrieve(unstored.id).catch((error) => error)
    expect(gone).toMatchObject({ status: 404, code: 'not_found' })
    const begun = await client.responses.create({ model: 'slow', input: 'write 30 tokens', background: true })
    let polled = begun
    while (polled.status === 'queued' || polled.status === 'in_progress') {
      await Bun.sleep(50)
      polled = await client.responses.retrieve(begun.id)
    }
    expect([polled.status, polled.usage?.output_tokens]).toEqual(['completed', 30])
    const options = { stream: true, starting_after: 20 } as const
    const rest = await Array.fromAsync(await client.responses.retrieve(begun.id, options))
    expect([rest[0]?.sequence_number, rest.at(-1)?.type]).toEqual([21, 'response.completed'])
    const long = { model: 'slow', input: 'write 900 tokens', background: true, stream: true } as const
    let id = ''
    for await (const event of await client.responses.create(long)) {
      if (event.type === 'response.created') ({ id } = event.response)
      if (event.sequence_number === 8) break
    }
    const cancelled = await client.responses.cancel(id)
    expect(cancelled.status).toBe('cancelled')
    await expectBalance(me, await recordsOf(me, 3))
  })

  test('every class of error', async () => {
    const me = await join()
    const broke = await join({ balance: '0' })
    const limited = await join({ models: ['slow'] })
    const body = { ...base, input: 'Hi' }
    const cases: [Pick<Member, 'key'>, object, number, string, string][] = [
      [{ key: `sk-tg-${'A'.repeat(49)}` }, body, 401, 'invalid_api_key', 'AuthenticationError'],
      [broke, body, 401, 'insufficient_balance', 'AuthenticationError'],
      [limited, body, 403, 'model_not_allowed', 'PermissionDeniedError'],
      [me, { ...body, model: 'nobody' }, 404, 'model_not_found', 'NotFoundError'],
      [me, { ...base }, 400, 'missing_required_parameter', 'BadRequestError'],
      [me, { ...body, conversation: 'conv_1' }, 400, 'unsupported_parameter', 'BadRequestError'],
      [me, { ...body, previous_response_id: 'resp_x' }, 400, 'previous_response_not_found', 'BadRequestError'],
      [me, { ...body, model: 'rejects' }, 400, 'invalid_value', 'BadRequestError'],
      [me, { ...body, model: 'fails-502' }, 502, 'upstream_error', 'InternalServerError'],
      [me, { ...body, model: 'fails-500' }, 502, 'upstream_error', 'InternalServerError'],
      [me, { ...body, model: 'fails-503' }, 503, 'service_unavailable', 'InternalServerError'],
    ]
    for (const [who, sent, status, code, name] of cases) {
      for (const stream of [false, true]) {
        const failing = connect(who).responses.create({ ...sent, stream } as never)
        const error = (await failing.then(
          () => 'nothing was thrown',
          (thrown: unknown) => thrown,
        )) as Error
        expect([error.constructor.name, error]).toMatchObject([name, { status, code }])
      }
    }
  })

  test.each(['cut', 'breaks'])(
    'a stream that the vendor breaks off (%s) throws in the middle, and is kept as failed',
    async (model) => {
      const me = await join()
      const client = connect(me)
      const stream = await client.responses.create({ model, input: 'Write 200 tokens', stream: true })
      const events: ResponseStreamEvent[] = []
      const thrown: unknown = await (async () => {
        for await (const event of stream) events.push(event)
        return undefined
      })().catch((error) => error)
      expect(thrown).toBeInstanceOf(Error)
      expect(String(thrown)).toContain('broke off in the middle')
      const records = await recordsOf(me, 1)
      const [record] = records
      expect(record).toMatchObject({ outcome: 'cut', usage_source: 'estimated' })
      expect(record?.charged).toBe(String(record && costOfRecord(record)))
      const kept = await client.responses.retrieve(`resp_${record?.id.slice(4)}`)
      expect(kept.status).toBe('failed')
      expect(kept.output_text).not.toBe('')
      await expectBalance(me, records)
    },
  )
})

describe('Vercel AI SDK, createOpenAI()(model)', () => {
  const connect = ({ key }: Pick<Member, 'key'>, model = 'org/chat'): LanguageModel =>
    createOpenAI({ baseURL: gateway().baseUrl, apiKey: key })(model)
  const tools = {
    weather: tool({
      description: 'Weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }): string => `${city} has 7 degrees`,
    }),
  }

  test('text, whole and streamed', async () => {
    const me = await join()
    const whole = await generateText({ model: connect(me), prompt: 'Say exactly: Grüße!', system: 'Be brief.' })
    expect([whole.text, whole.finishReason]).toEqual(['Grüße!', 'stop'])
    const stream = streamText({ model: connect(me), prompt: 'Write 40 tokens', maxOutputTokens: 30 })
    expect(await Array.fromAsync(stream.textStream)).toHaveLength(30)
    expect([await stream.finishReason, (await stream.usage).outputTokens]).toEqual(['length', 30])
    const records = await recordsOf(me, 2)
    expect(records.map(({ output_text: tokens }) => Number(tokens))).toEqual([whole.usage.outputTokens ?? 0, 30])
    await expectBalance(me, records)
  })

  test.each(['generated', 'streamed'] as const)('tools over several steps, %s', async (mode) => {
    const prompt = 'What is the weather in both Oslo and Rome?'
    const options = { model: connect(await join()), tools, stopWhen: stepCountIs(4), prompt }
    const result = mode === 'generated' ? await generateText(options) : streamText(options)
    expect(await result.text).toBe('According to weather: Oslo has 7 degrees\nAccording to weather: Rome has 7 degrees')
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
  })

  test('structured output, an image, and a conversation by id', async () => {
    const model = connect(await join())
    const schema = jsonSchema<{ name: string }>({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    })
    const { output } = await generateText({ model, prompt: 'Grace is 85', output: Output.object({ schema }) })
    expect(output).toEqual({ name: 'Grace' })
    const content = [
      { type: 'text', text: 'What is this?' } as const,
      { type: 'image', image: Buffer.from(PIXEL, 'base64') } as const,
    ]
    const seen = await generateText({ model, messages: [{ role: 'user', content }] })
    expect(seen.text).toContain('1 image (image/png)')
    const one = await generateText({ model, prompt: 'My name is Ada.' })
    const previousResponseId = one.providerMetadata?.['openai']?.['responseId'] as string
    const two = await generateText({
      model,
      prompt: 'What is my name?',
      providerOptions: { openai: { previousResponseId } },
    })
    expect(two.text).toBe('Your name is Ada.')
  })

  test('a conversation by its own messages: what it names by id alone is understood', async () => {
    const model = connect(await join())
    const first = { role: 'user', content: 'Say exactly: My name is Ada.' } as const
    const one = await generateText({ model, messages: [first] })
    const next = { role: 'user', content: 'What did I say first?' } as const
    const two = await generateText({ model, messages: [first, ...one.response.messages, next] })
    expect(JSON.stringify(two.request.body)).toContain('item_reference')
    expect(two.text).toBe(`The first thing you said was: "${first.content}"`)
  })

  test('errors, before and in the middle', async () => {
    const broke = await join({ balance: '0' })
    const requests = await requestsDuring(async () => {
      const error: unknown = await generateText({ model: connect(broke), prompt: 'Hi' }).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(APICallError)
      expect(error).toMatchObject({ statusCode: 401, isRetryable: false })
    })
    expect(requests).toBe(1)
    const stream = streamText({
      model: connect(await join(), 'cut'),
      prompt: 'Write 200 tokens',
      onError: (): void => undefined,
    })
    const parts = await Array.fromAsync(stream.fullStream)
    const errors = parts.filter((part) => part.type === 'error')
    expect(JSON.stringify(errors)).toContain('broke off in the middle')
    expect(parts.some((part) => part.type === 'text-delta')).toBe(true)
  })
})
