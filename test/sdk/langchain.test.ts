/** LangChain.js, unmodified: chat in both of OpenAI's dialects, embeddings, tools, structured output. */
import { describe, expect, test } from 'bun:test'
import { HumanMessage, type AIMessage, type BaseMessage, type ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'
import { setVendorsStage, vendors } from './vendors-stage.ts'

const { gateway, join, recordsOf, expectBalance } = setVendorsStage()
const dialects = ['chat', 'responses'] as const
const pairs = dialects.flatMap((dialect) => vendors.map((vendor) => ({ dialect, vendor })))

const weather = tool(({ city }: { city: string }) => `${city} has 7 degrees`, {
  name: 'weather',
  description: 'Weather of a city',
  schema: z.object({ city: z.string() }),
})

describe.each(pairs)('$dialect before a vendor that is $vendor', ({ dialect, vendor }) => {
  const connect = (apiKey: string): ChatOpenAI =>
    new ChatOpenAI({
      model: vendor,
      apiKey,
      useResponsesApi: dialect === 'responses',
      maxRetries: 0,
      configuration: { baseURL: gateway().baseUrl },
    })

  test('an answer, and a stream whose pieces add up to one', async () => {
    const me = await join()
    const model = connect(me.key)
    const whole = await model.invoke('Say exactly: Grüße, 世界!')
    expect(whole.text).toBe('Grüße, 世界!')
    const chunks = await Array.fromAsync(await model.stream('Write 40 tokens'))
    const sum = chunks.reduce((all, chunk) => all.concat(chunk))
    expect(sum.text.length).toBeGreaterThan(40)
    expect(sum.usage_metadata).toMatchObject({ output_tokens: 40 })
    const records = await recordsOf(me, 2)
    for (const [i, { usage_metadata: usage }] of [whole, sum].entries()) {
      expect(records[i]).toMatchObject({ outcome: 'completed', usage_source: 'reported' })
      expect(records[i]?.output_text).toBe(String((usage as { output_tokens?: number } | undefined)?.output_tokens))
    }
    await expectBalance(me, records)
  })

  test('parallel tools and their results', async () => {
    const me = await join()
    const model = connect(me.key).bindTools([weather])
    const messages: BaseMessage[] = [new HumanMessage('What is the weather in both Oslo and Rome?')]
    const asked: AIMessage = await model.invoke(messages)
    expect(asked.tool_calls?.map(({ name, args }) => [name, args])).toEqual([
      ['weather', { city: 'Oslo' }],
      ['weather', { city: 'Rome' }],
    ])
    messages.push(asked)
    for (const call of asked.tool_calls ?? []) {
      const result: unknown = await weather.invoke(call)
      messages.push(result as ToolMessage)
    }
    const answered = await model.invoke(messages)
    expect(answered.text).toBe('According to weather: Oslo has 7 degrees\nAccording to weather: Rome has 7 degrees')
    await expectBalance(me, await recordsOf(me, 2))
  })

  test('structured output', async () => {
    const me = await join()
    const model = connect(me.key).withStructuredOutput(z.object({ name: z.string(), age: z.int() }), {
      name: 'person',
      method: 'jsonSchema',
    })
    expect(await model.invoke('Ada is 36')).toEqual({ name: 'Ada', age: 36 })
    await expectBalance(me, await recordsOf(me, 1))
  })

  test('an empty balance is an error at once', async () => {
    const broke = await join({ balance: '0' })
    const error: unknown = await connect(broke.key)
      .invoke('Hi')
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 401, code: 'insufficient_balance' })
    await recordsOf(broke, 0)
  })
})

test('embeddings, one and many, of a size of their own', async () => {
  const me = await join()
  const configuration = { baseURL: gateway().baseUrl }
  const embeddings = new OpenAIEmbeddings({ model: 'small', apiKey: me.key, maxRetries: 0, configuration })
  const one = await embeddings.embedQuery('a cat')
  expect(one).toHaveLength(1536)
  const many = await embeddings.embedDocuments(['a cat', 'a dog'])
  expect(many[0]?.[7]).toBeCloseTo(one[7] ?? Number.NaN, 6)
  const short = new OpenAIEmbeddings({ model: 'small', apiKey: me.key, dimensions: 256, maxRetries: 0, configuration })
  expect(await short.embedQuery('a cat')).toHaveLength(256)
  await expectBalance(me, await recordsOf(me, 3))
})
