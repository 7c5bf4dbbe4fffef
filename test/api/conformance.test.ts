/**
 * Requirements of foreign test suites for these formats, against upstreams of three dialects: the strict mode of
 * github.com/avelrl/openai-compatible-tester (2026-05) and the HTTP tests of openresponses.org (2026-07), rewritten
 * here.
 */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { startSandboxProcess, type TestSandbox } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'

let sandbox: TestSandbox

const upstreams = ['chat', 'messages', 'gemini'] as const
const price = 'price: { input: 1, output: 2 }'

const gateway = useGateway(
  async () => {
    sandbox = await startSandboxProcess()
    const base = new URL(sandbox.baseUrl).origin
    return {
      yaml: [
        'sandbox: false',
        'providers:',
        `  chat: { base_url: '${base}/v1', allow_private: true }`,
        `  messages: { preset: anthropic, base_url: '${base}/v1', key: k, allow_private: true }`,
        `  gemini: { preset: gemini, base_url: '${base}/v1beta', key: k, allow_private: true }`,
        'models:',
        ...upstreams.map((id) => `  ${id}: { ${price}, offers: [{ provider: ${id}, model: sandbox-chat }] }`),
      ].join('\n'),
    }
  },
  () => sandbox.stop(),
)

type Json = Record<string, unknown>
const send = (path: string, body?: object): Promise<Response> =>
  fetch(`${gateway.baseUrl}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
async function ask(path: string, body?: object): Promise<Json> {
  const answer = await send(path, body)
  const value = (await answer.json()) as Json
  expect({ status: answer.status, value }).toMatchObject({ status: 200 })
  return value
}

const call = z.looseObject({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) })
const completion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  choices: z.tuple([
    z.object({
      index: z.literal(0),
      finish_reason: z.enum(['stop', 'tool_calls']),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        tool_calls: z.array(call).optional(),
      }),
    }),
  ]),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
})
const chunk = z.object({
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.object({ delta: z.object({ content: z.string().nullish() }), finish_reason: z.string().nullable() }),
  ),
})

/** Fields that the open specification demands of every response, of the types that it gives them. */
const response = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.literal('completed'),
  incomplete_details: z.null(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(z.looseObject({ id: z.string(), type: z.string(), encrypted_content: z.string().optional() })).min(1),
  error: z.null(),
  tools: z.array(z.looseObject({ type: z.string() })),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.looseObject({}),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
})
type ReadAnswer = z.output<typeof response>

const say = async (model: string, fields: Json): Promise<z.output<typeof completion>['choices'][0]> =>
  completion.parse(await ask('/chat/completions', { model, ...fields })).choices[0]
const respond = async (model: string, fields: Json): Promise<ReadAnswer> =>
  response.parse(await ask('/responses', { model, ...fields }))
const textOf = ({ output }: ReadAnswer): string =>
  output
    .flatMap((item) => (item.type === 'message' ? (item['content'] as { text: string }[]) : []))
    .map(({ text }) => text)
    .join('')

async function eventsOf(answer: Response): Promise<string[]> {
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  return (await answer.text()).split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
}

const addition = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
  additionalProperties: false,
}
const add = { type: 'function', function: { name: 'add', description: 'Add two integers', parameters: addition } }
const addInResponses = { type: 'function', ...add.function }
const status = {
  type: 'object',
  properties: { status: { type: 'string' }, value: { type: 'integer' } },
  required: ['status', 'value'],
  additionalProperties: false,
}
const CALL = 'Call add with a=40 and b=2. Do not answer yourself.'
const JUST = 'Reply with just the number.'
const hello = { role: 'system', content: 'Reply with exactly HELLO and nothing else.' }
const go = { role: 'user', content: 'go' }

describe.each(upstreams)('chat completions before %s', (model) => {
  test('an exact answer, whole and streamed', async () => {
    expect(await say(model, { messages: [hello, go] })).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'HELLO' },
    })
    const events = await eventsOf(await send('/chat/completions', { model, stream: true, messages: [hello, go] }))
    expect(events.pop()).toBe('[DONE]')
    const choices = events.flatMap((event) => chunk.parse(JSON.parse(event)).choices)
    expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe('HELLO')
    expect(choices.flatMap(({ finish_reason: reason }) => reason ?? [])).toEqual(['stop'])
  })

  test('memory', async () => {
    const messages = [
      { role: 'user', content: 'Remember: code=999. Reply OK' },
      { role: 'assistant', content: 'OK' },
      { role: 'user', content: `What is the code? ${JUST}` },
    ]
    expect((await say(model, { messages })).message.content).toBe('999')
  })

  test('structured answers', async () => {
    const messages = [{ role: 'user', content: 'Generate an object with status="ok" and value=42.' }]
    const schema = { type: 'json_schema', json_schema: { name: 'simple_status', strict: true, schema: status } }
    const made = await say(model, { messages, response_format: schema, max_tokens: 48 })
    expect(JSON.parse(made.message.content ?? '')).toEqual({ status: 'ok', value: 42 })
    const any = [
      { role: 'system', content: 'You output JSON only.' },
      { role: 'user', content: 'Return JSON like {"ok":true}.' },
    ]
    const object = await say(model, { messages: any, response_format: { type: 'json_object' }, max_tokens: 48 })
    expect(JSON.parse(object.message.content ?? '')).toEqual({ ok: true })
  })

  test.each(['required', { type: 'function', function: { name: 'add' } }])('a tool: %p', async (choice) => {
    const asked = { role: 'user', content: CALL }
    const fields = { tools: [add], tool_choice: choice, parallel_tool_calls: false, max_tokens: 64 }
    const { message, finish_reason: reason } = await say(model, { ...fields, messages: [asked] })
    const [made] = message.tool_calls ?? []
    expect([reason === 'tool_calls' || reason === 'stop', message.tool_calls?.length]).toEqual([true, 1])
    expect(JSON.parse(made?.function.arguments ?? '')).toEqual({ a: 40, b: 2 })
    const result = { role: 'tool', tool_call_id: made?.id, content: '{"result":42}' }
    const history = [asked, message, result, { role: 'user', content: JUST }]
    expect((await say(model, { messages: history, tools: [add] })).message.content).toBe('42')
  })
})

describe.each(upstreams)('responses before %s', (model) => {
  test('an exact answer, whole and streamed', async () => {
    expect(textOf(await respond(model, { input: 'ping: answer with OK' }))).toBe('OK')
    const events = await eventsOf(await send('/responses', { model, stream: true, input: [hello, go] }))
    if (events.at(-1) === '[DONE]') events.pop()
    const parsed = events.map((event) => JSON.parse(event) as { type: string; sequence_number: number; delta?: string })
    expect(parsed.map((event) => event.sequence_number)).toEqual(parsed.map((_, i) => i))
    expect([parsed[0]?.type, parsed.at(-1)?.type]).toEqual(['response.created', 'response.completed'])
    const deltas = parsed.filter(({ type }) => type === 'response.output_text.delta')
    expect(deltas.map(({ delta }) => delta).join('')).toBe('HELLO')
    response.parse((parsed.at(-1) as unknown as { response: unknown }).response)
  })

  test('phases, system prompts, pictures and several turns', async () => {
    const message = (role: string, content: unknown, more: object = {}): object => ({
      type: 'message',
      role,
      content,
      ...more,
    })
    const phased = [
      message('assistant', 'I should answer with the saved number.', { phase: 'commentary' }),
      message('assistant', 'The number is four.', { phase: 'final_answer' }),
      message('user', 'Repeat only the number.'),
    ]
    expect(textOf(await respond(model, { input: phased }))).toBe('four')
    const picture = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    const seen = await respond(model, {
      input: [message('user', [{ type: 'input_text', text: 'What is it?' }, picture])],
    })
    expect(textOf(seen)).toContain('image')
    const told = [
      message('user', 'My name is Alice.'),
      message('assistant', 'Hello Alice!'),
      message('user', 'What is my name?'),
    ]
    expect(textOf(await respond(model, { input: told }))).toContain('Alice')
  })

  test('a turn is kept, and gone on from', async () => {
    const first = await respond(model, { input: 'Remember: my code = 123. Reply OK', store: true })
    expect(await ask(`/responses/${first.id}`)).toMatchObject({ id: first.id, object: 'response' })
    const question = { input: `What was my code? ${JUST}`, previous_response_id: first.id }
    expect(textOf(await respond(model, question))).toBe('123')
  })

  test('structured answers', async () => {
    const input = 'Generate an object with status="ok" and value=42.'
    const format = { type: 'json_schema', name: 'simple_status', strict: true, schema: status }
    const made = await respond(model, { input, text: { format }, max_output_tokens: 48 })
    expect(JSON.parse(textOf(made))).toEqual({ status: 'ok', value: 42 })
  })

  test.each(['required', { type: 'function', name: 'add' }])('a tool: %p', async (choice) => {
    const asked = { role: 'user', content: CALL }
    const fields = { tools: [addInResponses], parallel_tool_calls: false }
    const { output } = await respond(model, { ...fields, input: [asked], tool_choice: choice })
    const made = output.find(({ type }) => type === 'function_call')
    expect([made?.['name'], typeof made?.['call_id']]).toEqual(['add', 'string'])
    expect(JSON.parse(String(made?.['arguments']))).toEqual({ a: 40, b: 2 })
    const result = { type: 'function_call_output', call_id: made?.['call_id'], output: '{"result":42}' }
    const input = [asked, ...output, result, { type: 'message', role: 'user', content: JUST }]
    expect(textOf(await respond(model, { ...fields, input }))).toBe('42')
  })

  test('a custom tool, with a grammar or without', async () => {
    const definition = 'start: INT (" + " INT)*\n%import common.INT\n'
    for (const format of [undefined, { type: 'grammar', syntax: 'lark', definition }]) {
      const tool = { type: 'custom', name: 'math_exp', description: 'Creates valid mathematical expressions', format }
      const input = 'Use the math_exp tool to add four plus four. Do not answer directly.'
      const { output } = await respond(model, { input, tools: [tool], tool_choice: 'required' })
      const made = output.find(({ type }) => type === 'custom_tool_call')
      expect(made).toMatchObject({ name: 'math_exp', input: format ? '4 + 4' : expect.any(String) })
    }
  })
})

test.each(upstreams)('a conversation in short: %s', async (model) => {
  const input = [
    { type: 'message', role: 'user', content: 'We agreed to launch on Tuesday and notify support first.' },
    { type: 'message', role: 'assistant', content: 'Understood.' },
  ]
  const short = await ask('/responses/compact', { model, prompt_cache_key: 'a-key', input })
  const usage = { input_tokens: expect.any(Number) as number }
  expect(short).toMatchObject({ object: 'response.compaction', id: expect.any(String) as string, usage })
  expect((short['output'] as { type: string }[]).map(({ type }) => type)).toContain('compaction')
})

test.each([
  ['/chat/completions', { model: 'chat', messages: 1 }],
  ['/responses', { model: 'chat', input: 1 }],
  ['/responses/compact', { input: [{ type: 'message', role: 'user', content: 'x' }] }],
])('a wrong request is refused in the shape of errors: %s', async (path, body) => {
  const answer = await send(path, body)
  expect(answer.status).toBe(400)
  const text = expect.any(String) as string
  expect(await answer.json()).toMatchObject({ error: { message: text, type: 'invalid_request_error', param: text } })
})
