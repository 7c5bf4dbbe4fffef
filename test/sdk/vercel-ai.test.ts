import { describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  generateObject,
  generateText,
  Output,
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
  type LanguageModelUsage,
  type StreamTextResult,
  type ToolSet,
} from 'ai'
import { z } from 'zod'
import { setStage } from './stage.ts'
import { costOfRecord, type Bought, type Member } from './till.ts'

const stage = setStage()
const { gateway, join, expectPaid, recordsOf, expectBalance, requestsDuring } = stage

type Connect = (member: Pick<Member, 'key'>, model?: string) => LanguageModel

const providers: { name: string; connect: Connect }[] = [
  {
    name: '@ai-sdk/openai',
    connect: ({ key }, model = 'org/chat') => createOpenAI({ baseURL: gateway().baseUrl, apiKey: key }).chat(model),
  },
  {
    name: '@ai-sdk/openai-compatible',
    connect: ({ key }, model = 'org/chat') => {
      const options = { name: 'tollgate', baseURL: gateway().baseUrl, apiKey: key, includeUsage: true }
      return createOpenAICompatible({ ...options, supportsStructuredOutputs: true })(model)
    },
  },
]

type Step = { readonly usage: LanguageModelUsage; readonly response: { headers?: Record<string, string> } }

/** What the SDK says of one call, as the till wants it. */
function bought({ usage, response }: Step): Bought {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0, outputTokenDetails } = usage
  const requestId = response.headers?.['x-request-id'] ?? null
  expect(requestId).toMatch(/^req_/)
  const details = { reasoning_tokens: outputTokenDetails.reasoningTokens ?? 0 }
  return {
    requestId,
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: totalTokens,
      completion_tokens_details: details,
    },
  }
}

const weatherInput = z.object({ city: z.string() })
const weather = tool({
  description: 'Weather of a city',
  inputSchema: weatherInput,
  execute: ({ city }): string => `${city} has 7 degrees`,
})
const person = z.object({ name: z.string(), age: z.int().min(0), tags: z.array(z.string()) })

/** The stream read to its end, with what its error parts carried. */
async function readParts(stream: StreamTextResult<ToolSet, never>): Promise<{ text: string; errors: unknown[] }> {
  let text = ''
  const errors: unknown[] = []
  for await (const part of stream.fullStream) {
    if (part.type === 'text-delta') text += part.text
    if (part.type === 'error') errors.push(part.error)
  }
  return { text, errors }
}

/** Without it the SDK prints every error. */
const silently = { onError: (): void => undefined }

describe.each(providers)('$name', ({ connect }) => {
  test('text, whole and streamed, with usage and finish reason', async () => {
    const me = await join()
    const prompt = 'Say exactly: Grüße, 世界! 👩‍👩‍👧'
    const whole = await generateText({ model: connect(me), prompt, system: 'Be brief.' })
    expect([whole.text, whole.finishReason]).toEqual(['Grüße, 世界! 👩‍👩‍👧', 'stop'])
    const stream = streamText({ model: connect(me), prompt: 'Write 40 tokens', maxOutputTokens: 30 })
    const pieces = await Array.fromAsync(stream.textStream)
    expect(pieces).toHaveLength(30)
    expect(await stream.finishReason).toBe('length')
    expect((await stream.usage).outputTokens).toBe(30)
    await expectPaid(me, [...whole.steps, ...(await stream.steps)].map(bought))
  })

  test.each(['generated', 'streamed'] as const)('a round of parallel tools, %s', async (mode) => {
    const me = await join()
    const prompt = 'What is the weather in both Oslo and Rome?'
    const options = { model: connect(me), tools: { weather }, stopWhen: stepCountIs(4), prompt }
    const result = mode === 'generated' ? await generateText(options) : streamText(options)
    expect(await result.text).toBe('According to weather: Oslo has 7 degrees\nAccording to weather: Rome has 7 degrees')
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
    await expectPaid(me, steps.map(bought))
  })

  test('structured output, as an object and beside a text', async () => {
    const me = await join()
    const { object, usage, response } = await generateObject({
      model: connect(me),
      schema: person,
      prompt: 'Grace is 85',
    })
    expect(object).toMatchObject({ name: 'Grace', age: 85 })
    const output = Output.object({ schema: person })
    const streamed = streamText({ model: connect(me), prompt: 'Ada is 36', output })
    expect(await streamed.output).toMatchObject({ name: 'Ada', age: 36 })
    await expectPaid(
      me,
      [{ usage, response: { headers: response.headers ?? {} } }, ...(await streamed.steps)].map(bought),
    )
  })

  test('an image', async () => {
    const me = await join()
    const image = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVQIW2NgAAIAAAUAAR4f7BQAAAAASUVORK5C',
      'base64',
    )
    const content = [{ type: 'text', text: 'What is this?' } as const, { type: 'image', image } as const]
    const { text, steps } = await generateText({ model: connect(me), messages: [{ role: 'user', content }] })
    expect(text).toContain('1 image (image/png)')
    await expectPaid(me, steps.map(bought))
  })

  test('a bad key, an empty balance, a model that is not allowed: not retried', async () => {
    const broke = await join({ balance: '0' })
    const limited = await join({ models: ['slow'] })
    const cases: [Pick<Member, 'key'>, number, string][] = [
      [{ key: `sk-tg-${'A'.repeat(49)}` }, 401, 'invalid_api_key'],
      [broke, 401, 'insufficient_balance'],
      [limited, 403, 'model_not_allowed'],
    ]
    for (const [member, statusCode, code] of cases) {
      const requests = await requestsDuring(async () => {
        const error: unknown = await generateText({ model: connect(member), prompt: 'Hi' }).catch((thrown) => thrown)
        expect(error).toBeInstanceOf(APICallError)
        expect(error).toMatchObject({ statusCode, isRetryable: false, data: { error: { code } } })
        const stream = streamText({ model: connect(member), prompt: 'Hi', ...silently })
        const { errors } = await readParts(stream)
        expect(errors).toHaveLength(1)
        expect(errors[0]).toMatchObject({ statusCode, data: { error: { code } } })
      })
      expect(requests).toBe(2)
    }
    await recordsOf(broke, 0)
    await recordsOf(limited, 0)
  })

  test('a vendor that fails is an error worth a retry, and free of charge', async () => {
    const me = await join()
    const options = { model: connect(me, 'fails-502'), prompt: 'Hi', maxRetries: 0 }
    const error: unknown = await generateText(options).catch((thrown) => thrown)
    expect(error).toMatchObject({ statusCode: 502, isRetryable: true, data: { error: { code: 'upstream_error' } } })
    const records = await recordsOf(me, 1)
    expect(records[0]).toMatchObject({ outcome: 'failed', charged: '0' })
  })

  test.each(['cut', 'breaks'])(
    'a stream that the vendor breaks off (%s) has an error part after its text',
    async (model) => {
      const me = await join()
      const stream = streamText({ model: connect(me, model), prompt: 'Write 200 tokens', ...silently })
      const { text, errors } = await readParts(stream)
      expect(text).not.toBe('')
      expect(errors).toHaveLength(1)
      expect(JSON.stringify(errors[0]) + String(errors[0])).toContain('broke off in the middle')
      const records = await recordsOf(me, 1)
      const [record] = records
      expect(record).toMatchObject({ outcome: 'cut', usage_source: 'estimated' })
      expect(record?.charged).toBe(String(record && costOfRecord(record)))
      await expectBalance(me, records)
    },
  )

  test('a stream that its client aborts costs what arrived', async () => {
    const me = await join()
    const controller = new AbortController()
    const abortSignal = controller.signal
    const stream = streamText({ model: connect(me, 'slow'), prompt: 'Write 400 tokens', abortSignal, ...silently })
    let pieces = 0
    for await (const part of stream.fullStream) {
      if (part.type === 'text-delta') pieces += 1
      if (pieces === 5) controller.abort()
    }
    const records = await recordsOf(me, 1)
    const [record] = records
    expect(record).toMatchObject({ outcome: 'client_closed' })
    expect(record?.charged).toBe(String(record && costOfRecord(record)))
    expect(Number(record?.output_text)).toBeWithin(4, 400)
    await expectBalance(me, records)
  })
})
