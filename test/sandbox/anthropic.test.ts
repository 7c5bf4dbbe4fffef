/** The official Anthropic SDK directly against the sandbox. The gateway may rely on what the SDK accepts. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import type { Sandbox } from '../../sandbox/listen.ts'
import { startSandbox } from '../../sandbox/server.ts'

type Ask = Anthropic.MessageCreateParamsNonStreaming
const KEY = 'sk-ant-test'
const model = 'sandbox-chat'
let sandbox: Sandbox

beforeAll(() => {
  sandbox = startSandbox({ paceMs: 0, apiKey: KEY })
})
afterAll(() => sandbox.stop())

const client = (apiKey = KEY): Anthropic =>
  new Anthropic({ baseURL: sandbox.url.replace(/\/v1$/, ''), apiKey, maxRetries: 0 })
const ask = (content: Anthropic.MessageParam['content'], rest: Partial<Ask> = {}): Ask => ({
  model,
  max_tokens: 2_000,
  messages: [{ role: 'user', content }],
  ...rest,
})
const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

/** What a call throws. The SDK's promises are lazy: they have to be asked. */
const thrown = async (call: PromiseLike<unknown>): Promise<Error> => {
  try {
    await call
  } catch (error) {
    return error as Error
  }
  return expect.unreachable()
}

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

test('text, usage and request id', async () => {
  const message = await client().messages.create(ask('Say exactly: Hello, world!'))
  expect(message).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn' })
  expect([textOf(message), message.usage.output_tokens]).toEqual(['Hello, world!', 4])
  expect(message.usage.input_tokens).toBeGreaterThan(5)
  expect(message._request_id).toStartWith('req_')
})

test('a stream comes to the same message', async () => {
  for (const question of ['Write 50 tokens', 'Say exactly: Grüße 🙂']) {
    const whole = await client().messages.create(ask(question))
    const streamed = await client().messages.stream(ask(question)).finalMessage()
    expect([textOf(streamed), streamed.usage]).toEqual([textOf(whole), whole.usage])
    expect(streamed.stop_reason).toBe('end_turn')
  }
})

test('limits and stop sequences', async () => {
  const cut = await client().messages.create(ask('Write 9 tokens', { max_tokens: 5 }))
  expect(cut).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 5 } })
  const stopped = await client().messages.create(ask('Say exactly: a, b; c', { stop_sequences: [';', ','] }))
  expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: ',', content: [{ text: 'a' }] })
})

test('tools: parallel calls with valid arguments, their results, the answer', async () => {
  const question = ask('What is the weather in both Oslo and Rome?', { tools: [weather] })
  const first = await client().messages.stream(question).finalMessage()
  const calls = first.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
  expect(first.stop_reason).toBe('tool_use')
  expect(calls.map(({ input }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
  const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: '7 degrees' }))
  const messages: Anthropic.MessageParam[] = [
    ...question.messages,
    { role: 'assistant', content: first.content },
    { role: 'user', content: results },
  ]
  expect(textOf(await client().messages.create({ ...question, messages }))).toContain('get_weather: 7 degrees')
  const unanswered = { ...question, messages: [...messages.slice(0, 2), { role: 'user' as const, content: 'Well?' }] }
  expect((await thrown(client().messages.create(unanswered))).message).toContain('tool_result')
  const forced = await client().messages.create(ask('Hello', { tools: [weather], tool_choice: { type: 'any' } }))
  expect(forced.stop_reason).toBe('tool_use')
})

test('structured output by a schema', async () => {
  const person = z.object({ name: z.string(), age: z.int() })
  const format = zodOutputFormat(person)
  const message = await client().messages.parse(ask('Ada is 36 years old', { output_config: { format } }))
  expect(message.parsed_output as unknown).toEqual({ name: 'Ada', age: 36 })
})

test('thoughts are signed, counted, and verified when they come back', async () => {
  const thinking = { type: 'enabled', budget_tokens: 1_024 } as const
  const question = ask('What is the weather in Oslo?', { tools: [weather], thinking })
  const first = await client().messages.stream(question).finalMessage()
  const [thought, call] = first.content
  if (thought?.type !== 'thinking' || call?.type !== 'tool_use') return expect.unreachable()
  expect(first.usage.output_tokens_details?.thinking_tokens).toBe(16)
  const result = { type: 'tool_result', tool_use_id: call.id, content: 'cold' } as const
  const again = (content: Anthropic.ContentBlockParam[]): Promise<Anthropic.Message> =>
    client().messages.create({
      ...question,
      messages: [...question.messages, { role: 'assistant', content }, { role: 'user', content: [result] }],
    })
  expect((await again([thought, call])).stop_reason).toBe('end_turn')
  const forged = { ...thought, thinking: 'I never thought that.' }
  expect((await thrown(again([forged, call]))).message).toContain('Invalid `signature`')
  expect((await thrown(again([call]))).message).toContain('Expected `thinking`')
  const adaptive = ask('think in secret: say exactly: x', { thinking: { type: 'adaptive' } })
  expect((await client().messages.create(adaptive)).content[0]?.type).toBe('redacted_thinking')
})

test('the prompt cache: written once, read later, each token in one bucket', async () => {
  const system = (text: string, ttl: '5m' | '1h'): Partial<Ask> => ({
    system: [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl } }],
  })
  const first = (await client().messages.create(ask('One', system('long text '.repeat(50), '1h')))).usage
  const second = (await client().messages.create(ask('Two', system('long text '.repeat(50), '1h')))).usage
  expect(first.cache_creation?.ephemeral_1h_input_tokens).toBeGreaterThan(100)
  expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens)
  expect([first.cache_read_input_tokens, second.cache_creation_input_tokens]).toEqual([0, 0])
  expect(second.input_tokens).toBe(first.input_tokens)
})

test('a refusal, an image, a count', async () => {
  expect(await client().messages.create(ask('Please refuse this'))).toMatchObject({ stop_reason: 'refusal' })
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' } as const
  const seen = await client().messages.create(
    ask([
      { type: 'image', source },
      { type: 'text', text: 'What is it?' },
    ]),
  )
  expect(textOf(seen)).toContain('1 image (image/png)')
  const { max_tokens: _, ...question } = ask('Hi')
  const { input_tokens: counted } = await client().messages.countTokens(question)
  expect(counted).toBe((await client().messages.create(ask('Hi'))).usage.input_tokens)
})

test('errors come in the envelope of the dialect, also on demand and in the middle', async () => {
  const failing = (fault: string): Promise<Error> =>
    thrown(client().messages.create(ask('Hi', { model: `${model}!${fault}` })))
  expect(await thrown(client('wrong').messages.create(ask('Hi')))).toBeInstanceOf(Anthropic.AuthenticationError)
  const unknown = client().messages.create(ask('Hi', { model: 'none' }))
  expect(await thrown(unknown)).toBeInstanceOf(Anthropic.NotFoundError)
  expect(await failing('status=429')).toMatchObject({ status: 429, type: 'rate_limit_error' })
  expect(await failing('status=529')).toMatchObject({ status: 529, type: 'overloaded_error' })
  expect(await failing('status=402')).toMatchObject({ status: 402, type: 'billing_error' })
  const stream = client().messages.stream(ask('Write 90 tokens', { model: `${model}!errorEvent=9` }))
  expect(await thrown(stream.finalMessage())).toMatchObject({ type: 'api_error' })
  const unversioned = await fetch(`${sandbox.url}/messages`, { method: 'POST', headers: { 'x-api-key': KEY } })
  expect(await unversioned.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
})
