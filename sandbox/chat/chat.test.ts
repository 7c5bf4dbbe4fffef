import { expect, test } from 'bun:test'
import { z } from 'zod'
import type { Faults } from '../faults.ts'
import { countTokens } from '../tokens.ts'
import { answerChat } from './chat.ts'
import { PrefixCache } from './prefix-cache.ts'

type Fields = Record<string, unknown>
const user = (content: unknown): Fields => ({ role: 'user', content })
const completion = z.object({
  choices: z.array(
    z.object({
      message: z.object({
        content: z.string().nullable(),
        tool_calls: z
          .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
          .optional(),
      }),
      finish_reason: z.string(),
      logprobs: z
        .object({ content: z.array(z.object({ token: z.string(), top_logprobs: z.array(z.unknown()) })) })
        .nullable(),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
})

function call(fields: Fields, faults: Faults = {}): { status: number; body: unknown } {
  const reply = answerChat({ body: { model: 'sandbox-chat', ...fields }, tail: '', faults, origin: '' })
  if (reply.kind !== 'json') throw new Error('Not asked for a stream')
  return reply
}

function ask(fields: Fields): z.output<typeof completion> {
  return completion.parse(call(fields).body)
}

/** The text of the first choice. */
function say(content: unknown, fields: Fields = {}): string {
  return ask({ messages: [user(content)], ...fields }).choices[0]?.message.content ?? ''
}

function callsOf(fields: Fields): { name: string; input: unknown }[] {
  const calls = ask(fields).choices[0]?.message.tool_calls ?? []
  return calls.map((one) => ({ name: one.function.name, input: JSON.parse(one.function.arguments) }))
}

function chunksOf(fields: Fields, faults: Faults = {}): unknown[] {
  const body = { model: 'sandbox-chat', stream: true, ...fields }
  const reply = answerChat({ body, tail: '', faults, origin: '' })
  if (reply.kind !== 'stream') throw new Error(JSON.stringify(reply))
  const texts = Array.from(reply.frames, (frame) => frame.text)
  expect(texts.at(-1)).toBe('data: [DONE]\n\n')
  return texts.slice(0, -1).map((text): unknown => JSON.parse(text.replace(/^data: /, '')))
}

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Current conditions of a place',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}
const stocks = { type: 'function', function: { name: 'find_stock_price', description: 'Shares and their worth' } }

test('the same body gets the same text, 30 to 80 tokens of it, that quotes the message', () => {
  for (const message of [
    'Hi',
    'Tell me about rivers in the north',
    'x'.repeat(5_000),
    '🙂'.repeat(99),
    '',
    '数'.repeat(50),
  ]) {
    const text = say(message)
    expect(say(message)).toBe(text)
    expect(text).toContain(message.slice(0, 10))
    expect(countTokens(text)).toBeWithin(30, 81)
  }
})

test('the seed varies the text', () => {
  const texts = Array.from({ length: 20 }, (_, seed) => say('Hi', { seed }))
  expect(new Set(texts).size).toBeGreaterThan(3)
})

test('n choices are all different', () => {
  const { choices } = ask({ messages: [user('Hi')], n: 128 })
  expect(new Set(choices.map((choice) => choice.message.content)).size).toBe(128)
})

test('texts of exact content and size on demand', () => {
  expect(say('Say exactly: Ready.\nGo! ')).toBe('Ready.\nGo!')
  expect(say('repeat 20 words').split(' ')).toHaveLength(20)
  expect(say('Repeat "ping pong" 3 times')).toBe('ping pong ping pong ping pong')
  for (const tokens of [1, 2, 9, 10, 500]) {
    const answer = ask({ messages: [user(`Please write ${tokens} tokens`)] })
    expect(answer.usage.completion_tokens).toBe(tokens)
    expect(countTokens(answer.choices[0]?.message.content ?? '')).toBe(tokens)
    expect(answer.choices[0]?.finish_reason).toBe('stop')
  }
})

test('earlier turns are remembered', () => {
  const history = [user('Hello, my name is Ada Lovelace.'), { role: 'assistant', content: 'Hi' }, user('My dog is Rex')]
  const asked = (question: string): string => say('', { messages: [...history, user(question)] })
  expect(asked('What is my name?')).toBe('Your name is Ada Lovelace.')
  expect(asked("what's my dog")).toBe('Your dog is Rex.')
  expect(asked('What is my cat?')).toBe('You have not told me your cat.')
  expect(asked('What did I say first?')).toContain('my name is Ada Lovelace')
  expect(asked('What did I just say?')).toContain('My dog is Rex')
})

test('images are counted and named by type, and cost a fixed number of tokens', () => {
  const image = (url: string): Fields => ({ type: 'image_url', image_url: { url } })
  const text = { type: 'text', text: 'What is this?' }
  const parts = [text, image('data:image/png;base64,AAAA'), image('https://example.com/a.JPG?x=1')]
  expect(say(parts)).toContain('2 images (image/png, image/jpeg)')
  const without = ask({ messages: [user([text])] }).usage.prompt_tokens
  expect(ask({ messages: [user(parts)] }).usage.prompt_tokens).toBe(without + 2 * 255)
})

test('max_tokens and max_completion_tokens cut at exactly that many tokens', () => {
  for (const fields of [{ max_tokens: 7 }, { max_completion_tokens: 7 }, { max_tokens: 9, max_completion_tokens: 7 }]) {
    const { choices, usage } = ask({ messages: [user('Hi')], ...fields })
    expect(choices[0]?.finish_reason).toBe('length')
    expect(countTokens(choices[0]?.message.content ?? '')).toBe(7)
    expect(usage.completion_tokens).toBe(7)
  }
})

test('the text ends before the first stop sequence', () => {
  const message = user('Say exactly: one two three four')
  expect(say('', { messages: [message], stop: ' two' })).toBe('one')
  expect(say('', { messages: [message], stop: ['four', 'thr'] })).toBe('one two ')
  expect(say('', { messages: [message], stop: 'five' })).toBe('one two three four')
})

test('usage adds up, reasoning included', () => {
  const fields = { messages: [user('write 10 tokens')], reasoning_effort: 'high', n: 2 }
  expect(call(fields).body).toMatchObject({
    usage: {
      prompt_tokens: 11,
      completion_tokens: 84,
      total_tokens: 95,
      completion_tokens_details: { reasoning_tokens: 64 },
    },
  })
})

test('reasoning comes out of max_tokens first', () => {
  const { choices, usage } = ask({ messages: [user('Hi')], reasoning_effort: 'high', max_completion_tokens: 20 })
  expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '' } })
  expect(usage.completion_tokens).toBe(20)
})

test('log probabilities: one entry per token with the alternatives asked for', () => {
  const { choices } = ask({ messages: [user('Say exactly: one two')], logprobs: true, top_logprobs: 3 })
  const content = choices[0]?.logprobs?.content ?? []
  expect(content.map(({ token }) => token)).toEqual(['one', ' two'])
  expect(content[0]?.top_logprobs).toHaveLength(3)
})

test('a single tool is called with valid arguments drawn from the message', () => {
  const messages = [user('How is it in Oslo?')]
  expect(callsOf({ messages, tools: [weather] })).toEqual([{ name: 'get_weather', input: { city: 'Oslo' } }])
  expect(ask({ messages, tools: [weather] }).choices[0]).toMatchObject({ finish_reason: 'tool_calls' })
  expect(callsOf({ messages, tools: [weather], tool_choice: 'none' })).toEqual([])
})

test('of several tools, those that the message is about are called', () => {
  const tools = [weather, stocks]
  const names = (content: string, fields: Fields = {}): string[] =>
    callsOf({ messages: [user(content)], tools, ...fields }).map(({ name }) => name)
  expect(names('Nice day')).toEqual([])
  expect(names('Nice day', { tool_choice: 'required' })).toEqual(['get_weather'])
  expect(names('Stock of Acme?')).toEqual(['find_stock_price'])
  expect(names('How much are shares')).toEqual(['find_stock_price'])
  expect(names('weather and stocks')).toEqual(['get_weather', 'find_stock_price'])
  expect(names('weather and stocks', { parallel_tool_calls: false })).toEqual(['get_weather'])
  expect(names('x', { tool_choice: { type: 'function', function: { name: 'find_stock_price' } } })).toEqual([
    'find_stock_price',
  ])
  const only = { mode: 'auto', tools: [{ type: 'function', function: { name: 'get_weather' } }] }
  expect(names('stocks', { tool_choice: { type: 'allowed_tools', allowed_tools: only } })).toEqual(['get_weather'])
})

test('arguments are always an object, even if the schema does not say so', () => {
  for (const parameters of [
    undefined,
    null,
    {},
    { properties: {} },
    { anyOf: [{ properties: { a: { const: 1 } } }] },
  ]) {
    const tools = [{ type: 'function', function: { name: 'f', parameters } }]
    expect(callsOf({ messages: [user('Go')], tools })[0]?.input).toBeObject()
  }
})

test('both: one tool is called twice, each time with another name', () => {
  const calls = callsOf({ messages: [user('weather in both Oslo and Rome')], tools: [weather] })
  expect(calls.map(({ input }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
})

test('the answer to a tool result is a text that quotes it', () => {
  const toolCalls = [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }]
  const messages = [
    user('weather in Oslo'),
    { role: 'assistant', content: null, tool_calls: toolCalls },
    { role: 'tool', tool_call_id: 'call_1', content: 'rain, 4 degrees' },
  ]
  expect(say('', { messages, tools: [weather] })).toBe('According to get_weather: rain, 4 degrees')
})

const add = {
  type: 'function',
  function: {
    name: 'add',
    description: 'Add two integers',
    parameters: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
  },
}

test('plain orders of the user and of a short system prompt are obeyed without a tool', () => {
  expect(say('Reply with exactly PONG and nothing else.')).toBe('PONG')
  expect(say('Say OK and nothing else', { tools: [weather] })).toBe('OK')
  const system = (content: string): Fields => ({ role: 'system', content })
  const told = [system('You are helpful. Reply with exactly "All good" and nothing else.'), user('Go')]
  expect(say('', { messages: told })).toBe('All good')
  expect(say('', { messages: [...told.slice(0, 1), user('Say exactly: no')] })).toBe('no')
  const long = system(`${'Be careful. '.repeat(200)}Reply with exactly HI.`)
  expect(say('', { messages: [long, user('Go')] })).toContain('Go')
  expect(callsOf({ messages: [user('Reply with exactly HI')], tools: [add], tool_choice: 'required' })).toHaveLength(1)
})

test.each([
  ['Call add with a=40 and b=2. Do not answer yourself.', { a: 40, b: 2 }],
  ['Use add: a: 40, b: 2', { a: 40, b: 2 }],
  ['Call add with {"a": 40, "b": 2}', { a: 40, b: 2 }],
  ['Call add with this:\n```json\n{\n  "b": 2,\n  "a": 40\n}\n```', { a: 40, b: 2 }],
])('arguments are the values in the message: %s', (message, input) => {
  expect(callsOf({ messages: [user(message)], tools: [weather, add] })).toEqual([{ name: 'add', input }])
})

test('arguments of all kinds: each of several tools takes its own values, and invalid values are not taken', () => {
  const parameters = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      done: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      level: { type: 'string', enum: ['low', 'high'] },
      count: { type: 'integer', minimum: 5 },
    },
  }
  const tools = [{ type: 'function', function: { name: 'make', parameters } }]
  const all = 'make title="Two words", done=false, tags=["a","b"], level=high, count=9'
  const [made] = callsOf({ messages: [user(all)], tools })
  expect(made?.input).toEqual({ title: 'Two words', done: false, tags: ['a', 'b'], level: 'high', count: 9 })
  const [odd] = callsOf({ messages: [user('make level=medium, count=1, done=perhaps')], tools })
  const lawful = z.object({ level: z.enum(['low', 'high']), count: z.int().min(5), done: z.boolean() })
  expect(lawful.safeParse(odd?.input).success).toBe(true)
  const free = [{ type: 'function', function: { name: 'any', parameters: { type: 'object' } } }]
  expect(callsOf({ messages: [user('any {"x":{"y":[1]}}')], tools: free })[0]?.input).toEqual({ x: { y: [1] } })
  const multiply = { ...add, function: { ...add.function, name: 'multiply' } }
  expect(
    callsOf({ messages: [user('Call add with a=1, b=2 and multiply with a=3, b=4')], tools: [add, multiply] }),
  ).toEqual([
    { name: 'add', input: { a: 1, b: 2 } },
    { name: 'multiply', input: { a: 3, b: 4 } },
  ])
})

test('structured answers also take the given values', () => {
  const schema = { type: 'object', properties: { status: { type: 'string' }, value: { type: 'integer' } } }
  const format = { type: 'json_schema', json_schema: { name: 'simple', strict: true, schema } }
  const text = say('Generate an object with status="ok" and value=42.', { response_format: format })
  expect(JSON.parse(text)).toEqual({ status: 'ok', value: 42 })
  expect(say('Return JSON like {"ok":true}.', { response_format: { type: 'json_object' } })).toBe('{"ok":true}')
})

test('a requested bare value comes from an earlier message, a tool or the last answer', () => {
  const history = (first: string, question: string): Fields => ({
    messages: [user(first), { role: 'assistant', content: 'OK' }, user(question)],
  })
  const just = 'Reply with just the number.'
  expect(say('', history('Remember: code=999. Reply OK', `What is the code? ${just}`))).toBe('999')
  expect(say('', history('Remember: my code = 123. Reply OK', `What was my code? ${just}`))).toBe('123')
  expect(say('', history('The launch code is X-7.', 'What is the launch code?'))).toBe('The launch code is X-7.')
  const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }
  const turn = [
    user('Call add with a=40 and b=2.'),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: '{"result":42}' },
  ]
  expect(say('', { messages: [...turn, user(just)], tools: [add] })).toBe('42')
  const asked = user(`Call add with a=40 and b=2. ${just}`)
  expect(say('', { messages: [asked, ...turn.slice(1)], tools: [add] })).toBe('42')
  const said = [{ role: 'assistant', content: 'The number is four.' }, user('Repeat only the number.')]
  expect(say('', { messages: said })).toBe('four')
})

test.each([
  ['What is 2+2?', '2 + 2 = 4'],
  ['What is 2 + 3 * 4? Reply with just the number.', '14'],
  ['Calculate ten minus four minus one', '10 - 4 - 1 = 5'],
])('a question about numbers is answered: %s', (question, answer) => {
  expect(say(question)).toBe(answer)
})

test('a tool with a grammar gets the expression that the message describes in words', () => {
  const message = [user('Use the math_exp tool to add four plus four. Do not answer directly.')]
  const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: /.+/' } }
  const custom = [{ type: 'custom', custom: { name: 'math_exp', format } }]
  expect(call({ messages: message, tools: custom }).body).toMatchObject({
    choices: [{ message: { tool_calls: [{ custom: { input: '4 + 4' } }] } }],
  })
  const parameters = { type: 'object', properties: { input: { type: 'string' } } }
  const description = 'The input must match this lark grammar: …'
  const asFunction = [{ type: 'function', function: { name: 'math_exp', description, parameters } }]
  expect(callsOf({ messages: message, tools: asFunction })[0]?.input).toEqual({ input: '4 + 4' })
})

test('a long known beginning is cached', () => {
  const prefixes = new PrefixCache()
  const cached = (content: string, fields: Fields = {}): number => {
    const messages = [{ role: 'system', content: 'A rule of the house. '.repeat(400) }, user(content)]
    const body = { model: 'sandbox-chat', messages, max_tokens: 1, ...fields }
    const reply = answerChat({ body, tail: '', faults: {}, origin: '' }, prefixes)
    const { body: answered } = reply as unknown as {
      body: { usage: { prompt_tokens_details: { cached_tokens: number } } }
    }
    return answered.usage.prompt_tokens_details.cached_tokens
  }
  expect(cached('Hi')).toBe(0)
  const again = cached('Hello')
  expect([again % 128, again > 1_024]).toEqual([0, true])
  expect(cached('Hello', { model: 'sandbox-mini' })).toBe(0)
})

test('a custom tool gets free text', () => {
  const tools = [{ type: 'custom', custom: { name: 'run_code' } }]
  expect(call({ messages: [user('2+2')], tools }).body).toMatchObject({
    choices: [{ message: { tool_calls: [{ type: 'custom', custom: { name: 'run_code', input: '2+2' } }] } }],
  })
})

test('structured output is JSON that is valid for the schema', () => {
  const schema = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 18 } } }
  const format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } }
  const text = say('Ada is 36', { response_format: format })
  expect(JSON.parse(text)).toEqual({ name: 'Ada', age: 36 })
  expect(JSON.parse(say('Hi', { response_format: { type: 'json_object' } }))).toBeObject()
})

test('a stream has the same content as one body, with one token per chunk', () => {
  const messages = [user('Hi')]
  const chunks = chunksOf({ messages })
  expect(chunks[0]).toMatchObject({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })
  expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] })
  const shape = z.object({
    id: z.string(),
    choices: z.tuple([z.object({ delta: z.object({ content: z.string().optional() }) })]),
  })
  const parsed = chunks.map((chunk) => shape.parse(chunk))
  const pieces = parsed.map(({ choices }) => choices[0].delta.content ?? '')
  expect(pieces.join('')).toBe(say('Hi'))
  expect(pieces.slice(1, -1).every((piece) => countTokens(piece) === 1)).toBeTrue()
  expect(new Set(parsed.map(({ id }) => id)).size).toBe(1)
  expect(chunks.some((chunk) => Object.hasOwn(Object(chunk), 'usage'))).toBeFalse()
})

test('usage comes last if requested, and in every chunk with the extension', () => {
  const messages = [user('write 3 tokens')]
  const asked = chunksOf({ messages, stream_options: { include_usage: true } })
  expect(asked[0]).toMatchObject({ usage: null })
  expect(asked.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } })
  const running = chunksOf({ messages, stream_options: { continuous_usage_stats: true } })
  const counts = running.map(
    (chunk) => z.object({ usage: z.object({ completion_tokens: z.int() }) }).parse(chunk).usage,
  )
  expect(counts.map((usage) => usage.completion_tokens)).toEqual([0, 1, 2, 3, 3])
})

test('the choices of a stream take turns and each has its end', () => {
  const chunks = chunksOf({ messages: [user('write 2 tokens')], n: 2 })
  const shape = z.object({ choices: z.tuple([z.object({ index: z.int(), finish_reason: z.string().nullable() })]) })
  const choices = chunks.map((chunk) => shape.parse(chunk).choices[0])
  expect(choices.map(({ index }) => index)).toEqual([0, 1, 0, 1, 0, 1, 0, 1])
  expect(choices.slice(-2).map((choice) => choice.finish_reason)).toEqual(['stop', 'stop'])
})

test('a streamed tool call: id and name first, then the arguments in pieces', () => {
  const chunks = chunksOf({ messages: [user('weather in both Oslo and Rome')], tools: [weather] })
  const first = { index: 0, type: 'function', function: { name: 'get_weather', arguments: '' } }
  expect(chunks[0]).toMatchObject({ choices: [{ delta: { role: 'assistant', content: null } }] })
  expect(chunks[1]).toMatchObject({ choices: [{ delta: { tool_calls: [first] } }] })
  const delta = z.object({ index: z.int(), function: z.object({ arguments: z.string() }) })
  const shape = z.object({
    choices: z.tuple([z.object({ delta: z.object({ tool_calls: z.tuple([delta]).optional() }) })]),
  })
  const texts = ['', '']
  for (const chunk of chunks) {
    const [one] = shape.parse(chunk).choices[0].delta.tool_calls ?? []
    if (one) texts[one.index] += one.function.arguments
  }
  expect(texts.map((text): unknown => JSON.parse(text))).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
  expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] })
})

test('tool arguments are cut by max_tokens like text', () => {
  const { choices, usage } = ask({ messages: [user('Oslo')], tools: [weather], max_tokens: 6 })
  expect(choices[0]?.finish_reason).toBe('length')
  expect(usage.completion_tokens).toBe(6)
})

test('usage can be wrong, or missing', () => {
  const messages = [user('Hi')]
  const wrong = completion.parse(call({ messages }, { wrongUsage: true }).body).usage
  expect(wrong.total_tokens).not.toBe(wrong.prompt_tokens + wrong.completion_tokens)
  expect(JSON.parse(JSON.stringify(call({ messages }, { noUsage: true }).body))).not.toHaveProperty('usage')
  const chunks = chunksOf({ messages, stream_options: { include_usage: true } }, { noUsage: true })
  expect(chunks.some((chunk) => Object.hasOwn(Object(chunk), 'usage'))).toBeFalse()
})

const messages = [user('Hi')]
const tool = { role: 'tool', content: 'x' }
const calling = {
  role: 'assistant',
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
}

test.each<[Fields, string | null, string]>([
  [{ model: undefined, messages }, 'model', 'missing_required_parameter'],
  [{}, 'messages', 'missing_required_parameter'],
  [{ messages: [] }, 'messages', 'invalid_value'],
  [{ messages: 'Hi' }, 'messages', 'invalid_type'],
  [{ messages: [user(null)] }, 'messages[0].content', 'invalid_type'],
  [{ messages: [{ content: 'Hi' }] }, 'messages[0].role', 'missing_required_parameter'],
  [{ messages: [{ role: 'bot', content: 'Hi' }] }, 'messages[0].role', 'invalid_value'],
  [{ messages: [user([{ type: 'image_url' }])] }, 'messages[0].content[0].image_url', 'missing_required_parameter'],
  [{ messages: [user([{ type: 'smell' }])] }, 'messages[0].content[0].type', 'invalid_value'],
  [{ messages: [tool] }, 'messages[0].tool_call_id', 'missing_required_parameter'],
  [{ messages: [{ ...tool, tool_call_id: 'a' }] }, 'messages[0].tool_call_id', 'invalid_value'],
  [{ messages: [calling, user('Hi')] }, 'messages[0]', 'invalid_value'],
  [{ messages, temperature: 2.5 }, 'temperature', 'invalid_value'],
  [{ messages, temperature: 'hot' }, 'temperature', 'invalid_type'],
  [{ messages, n: 0 }, 'n', 'invalid_value'],
  [{ messages, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', 'invalid_value'],
  [{ messages, tool_choice: 'required' }, 'tool_choice', 'invalid_value'],
  [{ messages, top_logprobs: 2 }, 'top_logprobs', 'invalid_value'],
  [{ messages, stream_options: { include_usage: true } }, 'stream_options', 'invalid_value'],
  [{ messages, tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name', 'invalid_value'],
  [{ messages: [user('a'.repeat(700_000))] }, 'messages', 'context_length_exceeded'],
])('%j is refused', (fields, param, code) => {
  const { status, body } = call(fields)
  expect(status).toBe(400)
  expect(body).toEqual({ error: { message: expect.any(String), type: 'invalid_request_error', param, code } })
})

test('a body that is not an object is refused', () => {
  for (const body of [undefined, null, [], 'Hi']) {
    expect(answerChat({ body, tail: '', faults: {}, origin: '' })).toMatchObject({ status: 400 })
  }
})

test('an unknown model is not found, null means absent, and unknown fields are ignored', () => {
  expect(call({ model: 'gpt-none', messages })).toMatchObject({
    status: 404,
    body: { error: { code: 'model_not_found' } },
  })
  expect(call({ messages, tools: null, stop: null, n: null, frobnicate: 1 }).status).toBe(200)
  expect(call({ model: 'sandbox-mini!pace=4', messages }).body).toMatchObject({ model: 'sandbox-mini!pace=4' })
})

test('choices are made in parallel: a stream of many takes as many waits as the longest one', () => {
  const waits = (n: number): number => {
    const body = { model: 'sandbox-chat', stream: true, n, messages: [user('write 20 tokens')] }
    const reply = answerChat({ body, tail: '', faults: {}, origin: '' })
    if (reply.kind !== 'stream') throw new Error(JSON.stringify(reply))
    return [...reply.frames].filter((frame) => !frame.isBeside).length
  }
  expect(waits(1)).toBeGreaterThan(20)
  expect(waits(128)).toBe(waits(1))
})
