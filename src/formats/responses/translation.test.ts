/** Requests of the responses format as they reach upstreams of either dialect, and the replies to them. */
import { describe, expect, test } from 'bun:test'
import type { Turn } from '../../domain/turn.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import type { Destination, AdapterContext, WriterQuirks } from '../core/contract.ts'
import { readChatClient } from '../chat/client.ts'
import { readResponsesClient } from './client.ts'
import { chatUpstreamSide } from '../chat/upstream-side.ts'
import { responsesUpstreamSideWith } from './upstream-side.ts'

const responsesUpstreamSide = responsesUpstreamSideWith(chatUpstreamSide)

const quirks: WriterQuirks = {
  outputMaxField: 'max_tokens',
  usageInStream: 'on_request',
  usageDialect: 'inclusive',
}
/** Only images use the context. */
const context = {} as AdapterContext
const to: Destination = { upstreamModel: 'theirs', outputTokensMax: 50, quirks }
const answer = { requestId: `req_${'0'.repeat(26)}`, createdAtMs: 1_000_500, publicModel: 'public' }

function client(body: object) {
  const text = JSON.stringify({ model: 'public', ...body })
  const read = readResponsesClient(text, Buffer.byteLength(text))
  if (read instanceof Promise) throw new Error('it is too large')
  if (read.kind === 'rejected') return read
  const failure = read.request.conversation.recall([], [])
  return failure ? { kind: 'rejected' as const, failure } : read
}

function read(body: object) {
  const got = client(body)
  if (got.kind === 'rejected') throw new Error(got.failure.message)
  return got.request
}

function refusal(body: object) {
  const got = client({ input: 'x', ...body })
  if (got.kind === 'read') throw new Error('it was taken')
  return [got.failure.kind, got.failure.param]
}

const tools = [
  {
    type: 'function',
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: {} },
    strict: true,
  },
  { type: 'custom', name: 'note', format: { type: 'text' } },
]
/** A custom tool for an upstream that knows functions only. */
const asFunction = {
  name: 'note',
  description: "Give the whole text as 'input', as it is.",
  parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
}
const full = {
  instructions: 'Be brief.',
  input: [
    { role: 'system', content: 'In French.' },
    { type: 'input_text', text: 'What is' },
    { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'theirs' },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'note', input: 'free' },
    { type: 'function_call_output', call_id: 'c1', output: 'a cat' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'noted' }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'And this?' },
        { type: 'input_file', file_data: 'data:application/pdf;base64,CCCC', filename: 'a.pdf' },
      ],
    },
  ],
  tools,
  tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'look' }] },
  parallel_tool_calls: false,
  text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
  reasoning: { effort: 'low', summary: 'auto' },
  temperature: 0.5,
  top_p: 0.9,
  truncation: 'auto',
  safety_identifier: 'someone',
  max_tool_calls: 3,
}

test('to an upstream that speaks chat', () => {
  const { body, dropped } = read(full).adapter(['chat'], context).request(to)
  expect(JSON.parse(body)).toEqual({
    model: 'theirs',
    max_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    user: 'someone',
    verbosity: 'low',
    reasoning_effort: 'low',
    parallel_tool_calls: false,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'In French.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
          { id: 'c2', type: 'function', function: { name: 'note', arguments: '{"input":"free"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      { role: 'tool', tool_call_id: 'c2', content: 'noted' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And this?' },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC', filename: 'a.pdf' } },
        ],
      },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, strict: true },
      },
      { type: 'function', function: asFunction },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'look' } }] },
    },
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' }, strict: true } },
  })
  expect(dropped.toSorted()).toEqual(['max_tool_calls', 'reasoning', 'truncation'])
})

test('to an upstream that speaks responses: nothing is stored there, and sealed reasoning comes back', () => {
  const request = read(full).adapter(['chat', 'responses'], context).request(to)
  expect(request.path).toBe('/responses')
  const user = { type: 'message', role: 'user' }
  expect(JSON.parse(request.body)).toEqual({
    model: 'theirs',
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    safety_identifier: 'someone',
    reasoning: { effort: 'low', summary: 'auto' },
    text: full.text,
    tools: [tools[0], { type: 'function', ...asFunction, strict: false }],
    tool_choice: full.tool_choice,
    parallel_tool_calls: false,
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'In French.' }] },
      {
        ...user,
        content: [
          { type: 'input_text', text: 'What is' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
        ],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'theirs' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
      { type: 'function_call', call_id: 'c2', name: 'note', arguments: '{"input":"free"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'a cat' },
      { type: 'function_call_output', call_id: 'c2', output: 'noted' },
      {
        ...user,
        content: [
          { type: 'input_text', text: 'And this?' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,CCCC', filename: 'a.pdf' },
        ],
      },
    ],
  })
  const never = read(full)
    .adapter(['responses'], context)
    .request({ ...to, upstreamModel: 'gpt-4o-mini' })
  expect(JSON.parse(never.body)).not.toHaveProperty('include')
})

test('a chat client reaches an upstream that only speaks responses', async () => {
  const text = JSON.stringify({
    model: 'public',
    messages: [{ role: 'user', content: 'hi' }],
    stop: ['x'],
    n: 2,
    seed: 1,
  })
  const got = await readChatClient(text, text.length)
  if (got.kind === 'rejected') throw new Error(got.failure.message)
  const adapter = got.request.adapter(['responses'], context)
  const { body, dropped } = adapter.request(to)
  expect(JSON.parse(body)).toMatchObject({ input: [{ role: 'user', content: [{ text: 'hi' }] }], store: false })
  expect(dropped).toEqual(['stop', 'seed', 'n'])
  const reply = await adapter.readReply(JSON.stringify(wholeReply), quirks)
  if (reply.kind === 'failed') throw new Error(reply.failure.message)
  const completion = JSON.parse(reply.reply.write(answer, reply.reply.usage as never)) as unknown
  expect(completion).toMatchObject({
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          content: 'A cat.',
          reasoning_content: 'Hm.',
          tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{}' } }],
        },
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 },
  })
})

const wholeReply = {
  id: 'resp_theirs',
  object: 'response',
  status: 'completed',
  error: null,
  output: [
    { id: 'rs_9', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'opaque' },
    { id: 'msg_9', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A cat.' }] },
    { id: 'fc_9', type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
  ],
  usage: { input_tokens: 10, output_tokens: 7, total_tokens: 17 },
}

test('a reply of the same dialect has our ids, and stamped sealed reasoning goes back to it', async () => {
  const request = read({ input: 'hi', include: ['reasoning.encrypted_content'] })
  const got = await request.adapter(['responses'], context).readReply(JSON.stringify(wholeReply), quirks)
  if (got.kind === 'failed') throw new Error(got.failure.message)
  const response = JSON.parse(got.reply.write(answer, got.reply.usage as never)) as { output: { id: string }[] }
  const tail = '0'.repeat(26)
  expect(response.output.map(({ id }) => id)).toEqual([`rs_${tail}_0`, `msg_${tail}_1`, `fc_${tail}_2`])
  const next = read({ input: [...response.output, { type: 'function_call_output', call_id: 'c1', output: 'x' }] })
  const { input } = JSON.parse(next.adapter(['responses'], context).request(to).body) as { input: object[] }
  expect(input[0]).toEqual({
    type: 'reasoning',
    id: 'rs_9',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content: 'opaque',
  })
})

test('a reply that failed, was cut, or is invalid', async () => {
  const adapter = read({ input: 'hi' }).adapter(['responses'], context)
  const failed = { ...wholeReply, status: 'failed', error: { code: 'server_error', message: 'Oh.' } }
  expect(adapter.readReply(JSON.stringify(failed), quirks)).toMatchObject({
    kind: 'failed',
    failure: { kind: 'server' },
  })
  expect(adapter.readReply('{}', quirks)).toMatchObject({ kind: 'failed', failure: { kind: 'garbage' } })
  expect(adapter.readReply('<', quirks)).toMatchObject({ kind: 'failed', failure: { kind: 'garbage' } })
  const cut = { ...wholeReply, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
  const got = await adapter.readReply(JSON.stringify(cut), quirks)
  if (got.kind === 'failed') throw new Error(got.failure.message)
  const response: unknown = JSON.parse(got.reply.write(answer, got.reply.usage as never))
  expect(response).toMatchObject({ status: 'incomplete', output: [{}, {}, { status: 'incomplete' }] })
})

describe('the price counts', () => {
  const bytes = (body: object): number => read(body).textBytes
  test('media by a rule of their own', () => {
    const image = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(100_000)}` }
    const file = { type: 'input_file', file_data: 'A'.repeat(4_000) }
    const request = read({ input: [{ role: 'user', content: [image, file] }] })
    expect([request.imageParts, request.mediaBytes]).toEqual([1, 3_000])
    expect(request.textBytes).toBeLessThan(400)
  })
  test('the earlier turns', () => {
    const first = read({ input: 'x'.repeat(1_000) })
    const turn = first.conversation.begun(answer)
    const second = read({ input: 'y' })
    const alone = bytes({ input: 'y' })
    expect(second.conversation.recall([{ ...turn, state: 'ended' }], [])).toBeUndefined()
    expect(second.textBytes - alone).toBeWithin(1_000, 1_300)
    expect(second.promptText()).toContain('x'.repeat(1_000))
  })
})

test('a refusal names the field at fault', () => {
  expect(refusal({ input: undefined })).toEqual(['missing_parameter', 'input'])
  expect(refusal({ input: [] })).toEqual(['invalid_value', 'input'])
  expect(refusal({ input: 3 })).toEqual(['invalid_type', 'input'])
  expect(refusal({ input: ['x'] })).toEqual(['invalid_type', 'input[0]'])
  expect(refusal({ input: [null] })).toEqual(['invalid_type', 'input[0]'])
  expect(refusal({ input: [{ role: 'pirate', content: 'x' }] })).toEqual(['invalid_value', 'input[0].role'])
  expect(refusal({ input: [{ role: 'user' }] })).toEqual(['missing_parameter', 'input[0].content'])
  expect(refusal({ input: [{ role: 'user', content: [{ type: 'x' }] }] })).toEqual([
    'invalid_value',
    'input[0].content[0].type',
  ])
  expect(refusal({ input: [{ role: 'user', content: [5] }] })).toEqual(['invalid_type', 'input[0].content[0]'])
  for (const tool_choice of ['required', { type: 'function', name: 'f' }, { type: 'allowed_tools', tools: [] }]) {
    expect(refusal({ tool_choice })).toEqual(['invalid_value', 'tool_choice'])
    expect(refusal({ tool_choice, tools: [] })).toEqual(['invalid_value', 'tool_choice'])
  }
  expect(refusal({ service_tier: 'priority' })).toEqual(['unsupported_parameter', 'service_tier'])
  expect(refusal({ input: [{ type: 5 }] })).toEqual(['invalid_type', 'input[0].type'])
  expect(refusal({ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] })).toEqual([
    'invalid_value',
    'input[0].call_id',
  ])
  const part = (fields: object): unknown => refusal({ input: [{ type: 'input_image', ...fields }] })
  expect(part({})).toEqual(['missing_parameter', 'input[0].image_url'])
  expect(part({ image_url: 5 })).toEqual(['invalid_type', 'input[0].image_url'])
  expect(part({ file_id: 'file_1' })).toEqual(['unsupported_parameter', 'input[0].file_id'])
  expect(refusal({ input: [{ type: 'input_file', file_url: 'https://x' }] })).toEqual([
    'unsupported_parameter',
    'input[0].file_url',
  ])
  expect(refusal({ input: [{ type: 'item_reference', id: 'msg_x' }] })).toEqual(['invalid_value', 'input[0].id'])
  expect(refusal({ tools: [{ type: 'function' }] })).toEqual(['missing_parameter', 'tools[0].name'])
  expect(refusal({ tool_choice: { type: 'file_search' } })).toEqual(['unsupported_parameter', 'tool_choice.type'])
  expect(refusal({ conversation: 'conv_1' })).toEqual(['unsupported_parameter', 'conversation'])
  expect(refusal({ prompt: { id: 'p' } })).toEqual(['unsupported_parameter', 'prompt'])
  expect(refusal({ background: true, store: false })).toEqual(['invalid_value', 'background'])
  expect(refusal({ text: { format: { type: 'json_schema', name: 'x' } } })).toEqual([
    'missing_parameter',
    'text.format.schema',
  ])
  expect(refusal({ max_output_tokens: 0 })).toEqual(['invalid_value', 'max_output_tokens'])
  expect(refusal({ metadata: { a: 1 } })).toEqual(['invalid_type', 'metadata.a'])
  expect(refusal({ model: undefined })).toEqual(['missing_parameter', 'model'])
  expect(refusal({ temperature: 3 })).toEqual(['invalid_value', 'temperature'])
})

test('null is the same as absent', () => {
  const names = ['instructions', 'previous_response_id', 'store', 'stream', 'tools', 'tool_choice', 'text', 'reasoning']
  const nothing = Object.fromEntries(
    [...names, 'include', 'metadata', 'truncation', 'user'].map((name) => [name, null]),
  )
  expect(read({ input: 'x', ...nothing }).conversation.turn).toEqual(read({ input: 'x' }).conversation.turn)
})

test('tools that run at a vendor are left out and named, and a request that forces one is refused', () => {
  const hosted = ['web_search', 'file_search', 'mcp', 'image_generation', 'code_interpreter', 'a_new_one']
  const offered = [...tools, ...hosted.map((type) => ({ type }))]
  for (const dialects of [['chat'], ['responses'], ['messages'], ['gemini']] as const) {
    const { body, dropped } = read({ input: 'x', tools: offered }).adapter(dialects, context).request(to)
    expect(body).toContain('note')
    for (const type of hosted) expect(body).not.toContain(type)
    expect(dropped).toEqual(hosted.map((type) => `tools.${type}`))
  }
  const forced = { tools: offered, tool_choice: { type: 'web_search' } }
  expect(refusal(forced)).toEqual(['unsupported_parameter', 'tool_choice.type'])
})

test('a server that answers in the chat format at any path is understood', () => {
  const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
  const turn: Turn = { messages: [], tools: [], choices: 1, foreign: [] }
  const read = responsesUpstreamSide.readReply(JSON.stringify({ choices: [choice], usage }), quirks, turn)
  expect(read).toMatchObject({ kind: 'reply', reply: { choices: [{ parts: [{ text: 'Hi' }], finish: 'stop' }] } })
  const decoder = responsesUpstreamSide.decoder(quirks, turn)
  const chunk = (delta: object, finish: string | null = null): SseEvent => ({
    name: undefined,
    data: JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], usage }),
  })
  expect(decoder.decode(chunk({ content: 'Hi' }))).toMatchObject({ deltas: [{ kind: 'text', text: 'Hi' }] })
  expect(decoder.decode(chunk({}, 'stop'))).toMatchObject({ deltas: [{ kind: 'finish', reason: 'stop' }] })
  expect([decoder.finished, decoder.usage !== undefined]).toEqual([true, true])
})
