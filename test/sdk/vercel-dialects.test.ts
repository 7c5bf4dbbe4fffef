/** The Vercel AI SDK in every dialect that it supports, against vendors of each dialect. */
import { describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, Output, stepCountIs, streamText, tool, type LanguageModel } from 'ai'
import { z } from 'zod'
import { costOfRecord, type Member } from './till.ts'
import { setVendorsStage, vendors } from './vendors-stage.ts'

const { gateway, join, recordsOf, expectBalance } = setVendorsStage()

type Connect = (key: string, model: string) => LanguageModel
const baseURL = (): string => gateway().baseUrl
const providers: Record<string, Connect> = {
  'openai responses': (apiKey, model) => createOpenAI({ baseURL: baseURL(), apiKey }).responses(model),
  'openai chat': (apiKey, model) => createOpenAI({ baseURL: baseURL(), apiKey }).chat(model),
  'openai-compatible': (apiKey, model) => {
    const options = { name: 'tollgate', baseURL: baseURL(), apiKey, includeUsage: true }
    return createOpenAICompatible({ ...options, supportsStructuredOutputs: true })(model)
  },
  anthropic: (apiKey, model) => createAnthropic({ baseURL: baseURL(), apiKey })(model),
  google: (apiKey, model) =>
    createGoogleGenerativeAI({ baseURL: `${new URL(baseURL()).origin}/v1beta`, apiKey })(model),
}
const pairs = Object.keys(providers).flatMap((provider) => vendors.map((vendor) => ({ provider, vendor })))

const weather = tool({
  description: 'Weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }): string => `${city} has 7 degrees`,
})

/** What the client saw as usage is what its records say; each was charged by it, and nothing else was. */
async function expectPaid(me: Member, seen: readonly { inputTokens?: unknown; outputTokens?: unknown }[]) {
  const records = await recordsOf(me, seen.length)
  for (const [i, { inputTokens, outputTokens }] of seen.entries()) {
    const record = records[i] ?? expect.unreachable()
    expect(record).toMatchObject({ outcome: 'completed', usage_source: 'reported' })
    expect(Number(record.output_text) + Number(record.output_reasoning)).toBe(Number(outputTokens))
    expect(Number(record.input_fresh) + Number(record.input_image)).toBeLessThanOrEqual(Number(inputTokens))
    if (Number(record.input_fresh) + Number(record.input_image) === inputTokens)
      expect(record.charged).toBe(String(costOfRecord(record)))
  }
  await expectBalance(me, records)
}

describe.each(pairs)('$provider before a vendor that is $vendor', ({ provider, vendor }) => {
  const connect = providers[provider] ?? expect.unreachable()

  test('text, whole and streamed, cut by a limit', async () => {
    const me = await join()
    const model = connect(me.key, vendor)
    const whole = await generateText({ model, prompt: 'Say exactly: Grüße, 世界! 👩‍👩‍👧', system: 'Be brief.' })
    expect([whole.text, whole.finishReason]).toEqual(['Grüße, 世界! 👩‍👩‍👧', 'stop'])
    const stream = streamText({ model, prompt: 'Write 40 tokens', maxOutputTokens: 30 })
    const pieces = await Array.fromAsync(stream.textStream)
    expect(pieces.length).toBeGreaterThan(3)
    expect(await stream.finishReason).toBe('length')
    expect((await stream.usage).outputTokens).toBe(30)
    await expectPaid(me, [whole.usage, await stream.usage])
  })

  test.each(['generated', 'streamed'] as const)('a round of parallel tools, %s', async (mode) => {
    const me = await join()
    const prompt = 'What is the weather in both Oslo and Rome?'
    const options = { model: connect(me.key, vendor), tools: { weather }, stopWhen: stepCountIs(4), prompt }
    const result = mode === 'generated' ? await generateText(options) : streamText(options)
    // The google provider wraps what a tool gave in an object of its own.
    expect(await result.text).toMatch(/^According to weather: .*Oslo has 7 degrees.*\n.*: .*Rome has 7 degrees/)
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
    await expectPaid(
      me,
      steps.map(({ usage }) => usage),
    )
  })

  test('structured output and an image', async () => {
    const me = await join()
    const model = connect(me.key, vendor)
    const output = Output.object({ schema: z.object({ name: z.string(), age: z.int() }) })
    const structured = await generateText({ model, prompt: 'Ada is 36', output })
    expect(structured.output).toEqual({ name: 'Ada', age: 36 })
    const image = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVQIW2NgAAIAAAUAAR4f7BQAAAAASUVORK5C',
      'base64',
    )
    const content = [{ type: 'text', text: 'What is this?' } as const, { type: 'image', image } as const]
    const seen = await generateText({ model, messages: [{ role: 'user', content }] })
    expect(seen.text).toContain('1 image (image/png)')
    await expectPaid(me, [structured.usage, seen.usage])
  })

  test('an empty balance is an error that is not retried', async () => {
    const broke = await join({ balance: '0' })
    const error: unknown = await generateText({ model: connect(broke.key, vendor), prompt: 'Hi' }).catch(
      (thrown) => thrown,
    )
    expect(error).toBeInstanceOf(APICallError)
    expect(error).toMatchObject({ isRetryable: false })
    expect(String(error)).toMatch(/balance|credit/i)
    await recordsOf(broke, 0)
  })
})
