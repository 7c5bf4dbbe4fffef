/** A turn of another dialect as a request of this one: the vendor's rules for each model family. */
import { expect, test } from 'bun:test'
import { readChatRequest } from '../../../test/support/read-chat.ts'
import { chatTurn } from '../chat/turn.ts'
import type { WriterQuirks } from '../core/contract.ts'
import { enforceable } from '../core/enforceable-schema.ts'
import { messagesUpstreamSide } from './upstream-side.ts'

const quirks: WriterQuirks = {
  outputMaxField: 'max_tokens',
  usageInStream: 'unasked',
  usageDialect: 'inclusive',
}
const hi = { role: 'user', content: 'Hi' }
const said = (text: string): object => ({ role: 'user', content: [{ type: 'text', text }] })

type WrittenBody = { readonly body: Record<string, unknown>; readonly dropped: readonly string[] }

/** A chat request as this dialect's upstream gets it. */
function write(fields: object, upstreamModel = 'claude-opus-4-6', outputTokensMax = 10_000): WrittenBody {
  const text = JSON.stringify({ model: 'public', messages: [hi], ...fields })
  const read = readChatRequest(text, text.length)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  const turn = chatTurn(read.request.body)
  if (turn.kind === 'rejected') throw new Error(turn.failure.message)
  const { body, dropped, path, headers } = messagesUpstreamSide.write(turn.turn, read.request.stream, {
    upstreamModel,
    outputTokensMax,
    quirks,
  })
  expect([path, headers]).toEqual(['/messages', { 'anthropic-version': '2023-06-01' }])
  return { body: JSON.parse(body) as Record<string, unknown>, dropped }
}

const call = (id: string, args: string): object => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: args },
})
const look = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }

const full = {
  stream: true,
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'developer',
      content: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'https://a.b/c.png' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC', filename: 'a.pdf' } },
        { type: 'file', file: { file_data: 'data:text/plain;base64,SGVsbG8=' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [call('c:1', '{"at":1}'), call('c2', ''), call('c3', 'oops')],
    },
    { role: 'tool', tool_call_id: 'c:1', content: 'a cat' },
    { role: 'tool', tool_call_id: 'c2', content: '' },
    { role: 'tool', tool_call_id: 'c3', content: [{ type: 'text', text: 'no' }] },
    { role: 'user', content: 'And?' },
    { role: 'user', content: ' ' },
    { role: 'assistant', content: 'It is \n' },
  ],
  tools: [look],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  stop: ['END', ' '],
  temperature: 0.5,
  user: 'user-42',
}

test('a full request', () => {
  const { body, dropped } = write(full)
  expect(body).toEqual({
    model: 'claude-opus-4-6',
    max_tokens: 10_000,
    system: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'CCCC' }, title: 'a.pdf' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hello' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c:1', name: 'look', input: { at: 1 } },
          { type: 'tool_use', id: 'c2', name: 'look', input: {} },
          { type: 'tool_use', id: 'c3', name: 'look', input: { arguments: 'oops' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c:1', content: [{ type: 'text', text: 'a cat' }] },
          { type: 'tool_result', tool_use_id: 'c2' },
          { type: 'tool_result', tool_use_id: 'c3', content: [{ type: 'text', text: 'no' }] },
          { type: 'text', text: 'And?' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'It is' }] },
      { role: 'user', content: [{ type: 'text', text: 'Continue.' }] },
    ],
    stream: true,
    temperature: 0.5,
    stop_sequences: ['END'],
    metadata: { user_id: 'user-42' },
    tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  })
  expect(dropped).toEqual([])
})

test('a conversation begins with the user, and the family decides how a system message inside it is written', () => {
  const messages = [{ role: 'assistant', content: 'Hello.' }, hi, { role: 'system', content: 'Be kind.' }]
  const begun = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] }
  const greeting = { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] }
  expect(write({ messages }, 'claude-opus-5').body['messages']).toEqual([
    begun,
    greeting,
    said('Hi'),
    { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
  ])
  const folded = {
    role: 'user',
    content: [
      { type: 'text', text: 'Hi' },
      { type: 'text', text: 'Be kind.' },
    ],
  }
  expect(write({ messages }, 'claude-opus-4-6').body['messages']).toEqual([begun, greeting, folded])
})

test('the last four cache marks are kept', () => {
  const content = Array.from({ length: 6 }, (_, i) => ({ type: 'text', text: `p${i}`, cache_control: {} }))
  const { body, dropped } = write({ messages: [{ role: 'user', content }] })
  const [message] = body['messages'] as { content: object[] }[]
  expect(message?.content.map((block) => 'cache_control' in block)).toEqual([false, false, true, true, true, true])
  expect(dropped).toEqual(['cache_control'])
})

/** How a family writes high effort and no effort, and whether it takes sampling fields and a forced tool. */
const families: Record<string, { high: object; none: object; sampled: boolean; forced: boolean; max: number }> = {
  'claude-sonnet-5-5': {
    high: adaptive('high'),
    none: off('between_tools'),
    sampled: false,
    forced: false,
    max: 128_000,
  },
  'claude-opus-5-5': { high: adaptive('high'), none: effort('low'), sampled: false, forced: false, max: 128_000 },
  'claude-fable-5-2': { high: adaptive('high'), none: effort('low'), sampled: false, forced: false, max: 128_000 },
  'claude-fable-5': { high: adaptive('high'), none: effort('low'), sampled: false, forced: true, max: 128_000 },
  'claude-haiku-5-5': { high: adaptive('high'), none: off('disabled'), sampled: false, forced: true, max: 128_000 },
  'claude-opus-5': { high: adaptive('high'), none: off('disabled'), sampled: false, forced: true, max: 128_000 },
  'claude-sonnet-5': { high: adaptive('high'), none: off('disabled'), sampled: false, forced: true, max: 128_000 },
  'claude-opus-4.8': { high: adaptive('high'), none: off('disabled'), sampled: false, forced: true, max: 128_000 },
  'claude-opus-4-7': { high: adaptive('high'), none: off('disabled'), sampled: false, forced: true, max: 128_000 },
  'claude-sonnet-4-6': { high: adaptive('high'), none: off('disabled'), sampled: true, forced: true, max: 128_000 },
  'claude-opus-4-5-20251101': {
    high: budget(38_400, 'high'),
    none: off('disabled'),
    sampled: true,
    forced: true,
    max: 64_000,
  },
  'claude-haiku-4-5': { high: budget(38_400), none: off('disabled'), sampled: true, forced: true, max: 64_000 },
  'claude-opus-4-1': { high: budget(19_200), none: off('disabled'), sampled: true, forced: true, max: 32_000 },
  'claude-something-new': { high: adaptive('high'), none: off('disabled'), sampled: false, forced: true, max: 128_000 },
  'qwen-3': { high: budget(120_000), none: off('disabled'), sampled: true, forced: true, max: 200_000 },
}
function adaptive(level: string): object {
  return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: level } }
}
function budget(tokens: number, level?: string): object {
  return { thinking: { type: 'enabled', budget_tokens: tokens }, ...(level && { output_config: { effort: level } }) }
}
function off(type: string): object {
  return { thinking: { type } }
}
function effort(level: string): object {
  return { output_config: { effort: level } }
}

test.each(Object.keys(families))('%s', (model) => {
  const family = families[model] ?? expect.unreachable()
  const fixed = { model, messages: [said('Hi')], max_tokens: family.max }
  const high = write({ reasoning_effort: 'high', temperature: 1 }, model, 200_000)
  expect(high).toEqual({ body: { ...fixed, ...family.high }, dropped: ['temperature'] })
  const none = write({ reasoning_effort: 'none' }, model, 200_000)
  expect(none.body).toEqual({ ...fixed, ...family.none })
  const sampling = { temperature: 1.5, top_p: 0.5, top_k: 3, tools: [look], tool_choice: 'required' }
  const sampled = write(sampling, model, 200_000)
  expect([sampled.body['temperature'], sampled.body['top_k']]).toEqual(family.sampled ? [1, 3] : [undefined, undefined])
  expect(sampled.body).not.toHaveProperty('top_p')
  expect(sampled.body['tool_choice']).toEqual({ type: family.forced ? 'any' : 'auto' })
  const lost = family.sampled ? ['temperature>1', 'top_p'] : ['temperature', 'top_p', 'top_k']
  expect(sampled.dropped).toEqual([...(family.forced ? [] : ['tool_choice']), ...lost])
})

test('a missing effort level becomes the nearest one, and a budget fits into the answer', () => {
  const effortOf = (model: string, level: string): unknown =>
    (write({ reasoning_effort: level }, model).body['output_config'] as { effort?: unknown }).effort
  expect(['minimal', 'low', 'xhigh', 'max'].map((level) => effortOf('claude-opus-4-6', level))).toEqual([
    'low',
    'low',
    'max',
    'max',
  ])
  expect(effortOf('claude-opus-5', 'xhigh')).toBe('xhigh')
  expect(effortOf('claude-opus-4-5', 'max')).toBe('high')
  const budgetIn = (limit: number): unknown =>
    write({ reasoning_effort: 'low' }, 'claude-haiku-4-5', limit).body['thinking']
  expect(budgetIn(20_000)).toEqual({ type: 'enabled', budget_tokens: 2_000 })
  expect(budgetIn(2_000)).toEqual({ type: 'enabled', budget_tokens: 1_024 })
  const tight = write({ reasoning_effort: 'low' }, 'claude-haiku-4-5', 1_000)
  expect([tight.body['thinking'], tight.dropped]).toEqual([undefined, ['reasoning_effort']])
})

test('a forced tool leaves no room for thinking', () => {
  const { body, dropped } = write({ tools: [look], tool_choice: 'required', reasoning_effort: 'high' })
  expect([body['thinking'], body['tool_choice'], dropped]).toEqual([undefined, { type: 'any' }, ['reasoning_effort']])
})

test('tools: chosen by name, none, some of them, and strict ones', () => {
  const other = { type: 'function', function: { name: 'other', strict: true, parameters: { type: 'object' } } }
  const tools = [look, other]
  const choose = (tool_choice: unknown): WrittenBody => write({ tools, tool_choice })
  expect(choose({ type: 'function', function: { name: 'look' } }).body['tool_choice']).toEqual({
    type: 'tool',
    name: 'look',
  })
  expect(choose('none').body['tool_choice']).toEqual({ type: 'none' })
  const named = { type: 'function', function: { name: 'look' } }
  const some = choose({ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } }).body
  expect([some['tools'], some['tool_choice']]).toEqual([
    [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
    { type: 'any' },
  ])
  expect(write({ tools }).body['tools']).toEqual([
    { name: 'look', description: 'Looks.', input_schema: { type: 'object' } },
    { name: 'other', input_schema: { type: 'object', properties: {}, additionalProperties: false }, strict: true },
  ])
  const oldest = write({ tools: [other] }, 'qwen-3').body['tools'] as object[]
  expect(oldest[0]).not.toHaveProperty('strict')
})

const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 0 } }, required: ['age'] }
const response_format = { type: 'json_schema', json_schema: { name: 'person', description: 'A person.', schema } }

test('structured output: by schema if the model can, otherwise by a tool, and by the prompt for any object', () => {
  const age = { type: 'integer', description: '(minimum: 0)' }
  expect(write({ response_format }).body['output_config']).toEqual({
    format: { type: 'json_schema', schema: { ...schema, properties: { age }, additionalProperties: false } },
  })
  const answer = { name: 'structured_answer', description: 'A person.', input_schema: schema }
  const old = write({ response_format }, 'qwen-3').body
  expect([old['tools'], old['tool_choice']]).toEqual([[answer], { type: 'tool', name: 'structured_answer' }])
  const beside = write({ response_format, tools: [look] }, 'qwen-3').body
  expect(beside['tool_choice']).toEqual({ type: 'any', disable_parallel_tool_use: true })
  expect(write({ response_format, tools: [look], tool_choice: 'required' }, 'qwen-3').dropped).toEqual([
    'response_format',
  ])
  const any = write({ response_format: { type: 'json_object' } })
  expect(any.dropped).toEqual(['response_format'])
  expect(JSON.stringify(any.body['system'])).toContain('one JSON object')
})

test('rules that are not enforced go into the description, at any depth', () => {
  const given = {
    type: 'object',
    properties: {
      tags: { type: 'array', items: { type: 'string', pattern: '^a' }, minItems: 1, description: 'Tags.' },
      pattern: { oneOf: [{ type: 'number', maximum: 5 }, { $ref: '#/$defs/x' }] },
    },
    $defs: { x: { type: 'object', properties: {}, additionalProperties: { type: 'string' } } },
    required: ['tags'],
  }
  expect(enforceable(given)).toEqual({
    type: 'object',
    properties: {
      tags: {
        type: 'array',
        items: { type: 'string', description: '(pattern: "^a")' },
        description: 'Tags. (minItems: 1)',
      },
      pattern: { anyOf: [{ type: 'number', description: '(maximum: 5)' }, { $ref: '#/$defs/x' }] },
    },
    $defs: { x: { type: 'object', properties: {}, additionalProperties: false } },
    required: ['tags'],
    additionalProperties: false,
  })
})

test('unsupported fields are dropped by name', () => {
  const { dropped } = write({
    seed: 1,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    logprobs: true,
    verbosity: 'low',
    user: 'Ada Lovelace <ada@example.com>',
    messages: [{ role: 'assistant', content: 'Hm.', reasoning_content: 'unsigned' }, hi],
  })
  const names = 'frequency_penalty logprobs presence_penalty reasoning seed user verbosity'
  expect(dropped.toSorted()).toEqual(names.split(' '))
})

test('thinking goes back to this dialect only, unchanged and before the call', () => {
  const detail = (origin: string, data: string, form?: string): object => {
    return { type: 'reasoning.sealed', text: `thought ${data}`, origin, data, form }
  }
  const details = [detail('messages', 's1'), detail('gemini', 'g1'), detail('messages', 'r1', 'redacted')]
  const assistant = { role: 'assistant', content: null, reasoning_details: details, tool_calls: [call('c1', '{}')] }
  const messages = [hi, assistant, { role: 'tool', tool_call_id: 'c1', content: 'x' }]
  const { body, dropped } = write({ messages, reasoning_effort: 'low' }, 'claude-haiku-4-5', 20_000)
  expect((body['messages'] as { content: object }[])[1]?.content).toEqual([
    { type: 'thinking', thinking: 'thought s1', signature: 's1' },
    { type: 'redacted_thinking', data: 'r1' },
    { type: 'tool_use', id: 'c1', name: 'look', input: {} },
  ])
  expect([body['thinking'], dropped]).toEqual([{ type: 'enabled', budget_tokens: 2_000 }, ['reasoning']])
  const { reasoning_details: _, ...bare } = assistant
  const lost = write({ messages: [hi, bare, messages[2]], reasoning_effort: 'low' }, 'claude-haiku-4-5', 20_000)
  expect([lost.body['thinking'], lost.dropped]).toEqual([undefined, ['reasoning_effort']])
})
