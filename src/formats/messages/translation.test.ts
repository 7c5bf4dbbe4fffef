/**
 * Between this dialect and others: recorded streams as deltas and back, and a chat vendor's answers for this client.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Delta, SealedData, Turn } from '../../domain/turn.ts'
import { SseDecoder } from '../../lib/http/sse.ts'
import { readChatRequest } from '../../../test/support/read-chat.ts'
import { chatClientSide } from '../chat/client-side.ts'
import { chatTurn } from '../chat/turn.ts'
import { chatUpstreamSide } from '../chat/upstream-side.ts'
import type { AnswerFacts, WriterQuirks } from '../core/contract.ts'
import { translated } from '../core/translated.ts'
import { messagesClientSide } from './client-side.ts'
import { MessagesDecoder } from './decoder.ts'
import { readMessagesRequest } from './request.ts'
import { readStamp, signatureOf } from './seal.ts'
import { messagesTurn, wantsThoughts } from './turn.ts'
import { messagesUpstreamSide } from './upstream-side.ts'
import { readMessagesUsage } from './usage.ts'

const quirks: WriterQuirks = {
  outputMaxField: 'max_tokens',
  usageInStream: 'on_request',
  usageDialect: 'inclusive',
}
const answer: AnswerFacts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'public' }
const counted = readMessagesUsage({ input_tokens: 7, output_tokens: 9 }) ?? expect.unreachable()
const plain: Turn = { messages: [], tools: [], choices: 1, foreign: [] }

const recorded = (name: string): string =>
  readFileSync(join(import.meta.dir, `../../../test/fixtures/messages/${name}.sse`), 'utf8')
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

type DecodedAnswer = { deltas: Delta[]; end: string; decoder: MessagesDecoder }

function decode(bytes: readonly Uint8Array[], turn = plain): DecodedAnswer {
  const sse = new SseDecoder(1_000_000)
  const decoder = new MessagesDecoder(turn)
  const deltas: Delta[] = []
  for (const event of [...bytes.flatMap((chunk) => sse.push(chunk)), ...sse.end()]) {
    const decoded = decoder.decode(event)
    if (decoded.kind === 'failed') return { deltas, end: decoded.failure.kind, decoder }
    if (decoded.kind === 'done') return { deltas, end: 'done', decoder }
    deltas.push(...decoded.deltas)
  }
  return { deltas, end: 'closed', decoder }
}

const choice = 0
const thought: SealedData = { origin: 'messages', data: 'EqoBCkgIARABGAIiQL2UoU0b1OHYi+yCHpBY7U6FQW8=' }
const secret: SealedData = {
  origin: 'messages',
  form: 'redacted',
  data: 'EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw',
}
const [weatherId, timeId] = ['toolu_01T1x1fJ34qAmk2tNTrN7Up6', 'toolu_01PXT3rVcQu5vP9fM6uQ7sGq']
const golden: Record<string, { end: string; deltas: Delta[] }> = {
  text: {
    end: 'done',
    deltas: [
      ...['Grüße', ', 世界 ', '👩‍👩‍👧 "', '\n'].map((text): Delta => ({ kind: 'text', choice, text })),
      { kind: 'finish', choice, reason: 'stop' },
    ],
  },
  'thinking-tools': {
    end: 'done',
    deltas: [
      { kind: 'reasoning', choice, text: 'Two cities, ' },
      { kind: 'reasoning', choice, text: 'two calls.' },
      { kind: 'sealed', choice, sealed: thought },
      { kind: 'sealed', choice, sealed: secret },
      { kind: 'text', choice, text: 'Let me look' },
      { kind: 'text', choice, text: '.' },
      { kind: 'call', choice, call: 0, id: weatherId, name: 'get_weather', tool: 'function' },
      { kind: 'arguments', choice, call: 0, text: '{"city":' },
      { kind: 'arguments', choice, call: 0, text: ' "Oslo"}' },
      { kind: 'call', choice, call: 1, id: timeId, name: 'get_time', tool: 'function' },
      { kind: 'arguments', choice, call: 1, text: '{}' },
      { kind: 'finish', choice, reason: 'tool_calls' },
    ],
  },
  refusal: {
    end: 'done',
    deltas: [
      { kind: 'refusal', choice, text: 'This request is against the usage policy.' },
      { kind: 'finish', choice, reason: 'content_filter' },
    ],
  },
  'cut-by-length': {
    end: 'done',
    deltas: [
      { kind: 'text', choice, text: 'Once upon' },
      { kind: 'finish', choice, reason: 'length' },
    ],
  },
  overloaded: { end: 'overload', deltas: [{ kind: 'text', choice, text: 'Once' }] },
  'server-tool': {
    end: 'done',
    deltas: [
      { kind: 'text', choice, text: 'Found' },
      { kind: 'finish', choice, reason: 'stop' },
    ],
  },
}

test.each(Object.keys(golden))('the recorded stream %s has these deltas, wherever it is cut', (name) => {
  const bytes = encode(recorded(name))
  for (let cut = 0; cut <= bytes.length; cut++) {
    const { deltas, end, decoder } = decode([bytes.subarray(0, cut), bytes.subarray(cut)])
    expect({ end, deltas } as object).toEqual(golden[name] ?? {})
    expect(decoder.finished).toBe(end === 'done')
  }
})

test('the last stated usage counts, and the input is known from the start', () => {
  expect(decode([encode(recorded('thinking-tools'))]).decoder.usage).toEqual({
    inputFresh: 412,
    inputCached: 0,
    cacheWrite5m: 100,
    cacheWrite1h: 200,
    outputText: 86,
    outputReasoning: 31,
  })
  const start = recorded('text').split('\n\n')[0] ?? ''
  expect(decode([encode(`${start}\n\n`)]).decoder.usage).toMatchObject({ inputFresh: 12, inputCached: 900 })
})

/** A chat client at an upstream of this dialect. */
function chatPassage(fields: object = {}) {
  const text = JSON.stringify({ model: 'public', messages: [{ role: 'user', content: 'Hi' }], ...fields })
  const read = readChatRequest(text, text.length)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  return translated(chatTurn(read.request.body), true, chatClientSide(true), messagesUpstreamSide)
}

/** The text that a client gets from recorded bytes. */
function pass(adapter: ReturnType<typeof chatPassage>, bytes: string): string {
  const stream = adapter.openStream(answer, quirks)
  let text = ''
  for (const event of new SseDecoder(1_000_000).push(encode(bytes))) {
    const read = stream.read(event)
    if (read.kind === 'failed') return text + stream.fail({ kind: 'upstream_error', message: 'It broke.' })
    if (read.kind === 'done') return text + stream.end(stream.usage ?? counted)
    text += read.text
  }
  return text + stream.end(stream.usage ?? counted)
}

const parse = <T>(text: string): T[] =>
  [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => (data === '[DONE]' ? [] : [JSON.parse(data) as T]))

test('a chat client reads the recorded tools stream: deltas, sealed thinking, finish, usage', () => {
  type Chunk = { choices: { delta: object; finish_reason: string | null }[]; usage: object | null }
  const text = pass(chatPassage(), recorded('thinking-tools'))
  const chunks = parse<Chunk>(text)
  const opening = (index: number, id: string, name: string): object => {
    return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }
  }
  const args = (index: number, json: string): object => ({ tool_calls: [{ index, function: { arguments: json } }] })
  const detail = (words: string, sealed: SealedData): object => ({ type: 'reasoning.sealed', text: words, ...sealed })
  expect(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))).toEqual([
    { role: 'assistant', content: '' },
    { reasoning_content: 'Two cities, ' },
    { reasoning_content: 'two calls.' },
    { content: 'Let me look' },
    { content: '.' },
    opening(0, weatherId ?? '', 'get_weather'),
    args(0, '{"city":'),
    args(0, ' "Oslo"}'),
    opening(1, timeId ?? '', 'get_time'),
    args(1, '{}'),
    { reasoning_details: [detail('Two cities, two calls.', thought), detail('', secret)] },
  ])
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls')
  expect(chunks.at(-1)?.usage).toMatchObject({
    prompt_tokens: 712,
    completion_tokens: 117,
    total_tokens: 829,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 300 },
    completion_tokens_details: { reasoning_tokens: 31 },
  })
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('a broken stream has the dialect’s error and no terminator', () => {
  const text = pass(chatPassage(), recorded('overloaded'))
  expect(parse<object>(text).at(-1)).toMatchObject({ error: { code: 'upstream_error' } })
  expect(text).not.toContain('[DONE]')
})

const person = { type: 'json_schema', json_schema: { name: 'p', schema: { type: 'object' } } }
const useOf = (name: string, input: object): object => ({ type: 'tool_use', id: 't1', name, input })
const reply = (content: object[], stop_reason = 'tool_use', rest: object = {}): string =>
  JSON.stringify({ type: 'message', content, stop_reason, usage: { input_tokens: 1, output_tokens: 2 }, ...rest })

function whole(fields: object, text: string): { message: object; finish_reason: string } {
  const read = chatPassage(fields).readReply(text, quirks)
  if (read instanceof Promise) throw new Error('a short reply is read at once')
  if (read.kind === 'failed') throw new Error(read.failure.message)
  const { choices } = JSON.parse(read.reply.write(answer, read.reply.usage ?? counted)) as {
    choices: { message: object; finish_reason: string }[]
  }
  return choices[0] ?? expect.unreachable()
}

test('an answer by the answer tool is the answer, and the client’s own calls beside it are calls', () => {
  const fields = { response_format: person }
  const answered = whole(fields, reply([useOf('structured_answer', { age: 3 })]))
  expect(answered).toMatchObject({ message: { content: '{"age":3}' }, finish_reason: 'stop' })
  const called = whole(fields, reply([useOf('look', {})]))
  expect(called).toMatchObject({ message: { tool_calls: [{ id: 't1' }] }, finish_reason: 'tool_calls' })
  const events = [
    { type: 'content_block_start', index: 0, content_block: useOf('structured_answer', {}) },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"age"' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ':3}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  ]
  const format = { kind: 'json_schema', name: 'p', schema: {} } as const
  const bytes = encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  expect(decode([bytes], { ...plain, format }).deltas).toEqual([
    { kind: 'text', choice, text: '{"age"' },
    { kind: 'text', choice, text: ':3}' },
    { kind: 'finish', choice, reason: 'stop' },
  ])
})

test('a custom tool gets its free text from the argument', () => {
  const fields = { tools: [{ type: 'custom', custom: { name: 'note' } }] }
  expect(whole(fields, reply([useOf('note', { input: 'Buy "milk"' })])).message).toMatchObject({
    tool_calls: [{ type: 'custom', custom: { name: 'note', input: 'Buy "milk"' } }],
  })
})

test('stop reasons, a refusal in text, and invalid replies', () => {
  const text = [{ type: 'text', text: 'x' }]
  const finishOf = (reason: string): string => whole({}, reply(text, reason)).finish_reason
  const reasons = ['end_turn', 'stop_sequence', 'pause_turn', 'max_tokens', 'model_context_window_exceeded', 'new']
  expect(reasons.map(finishOf)).toEqual(['stop', 'stop', 'stop', 'length', 'length', 'stop'])
  const details = { stop_details: { type: 'refusal', explanation: 'No.' } }
  expect(whole({}, reply([], 'refusal', details))).toMatchObject({
    message: { content: '', refusal: 'No.' },
    finish_reason: 'content_filter',
  })
  for (const [body, kind] of [
    ['nonsense', 'garbage'],
    ['{}', 'garbage'],
    ['{"type":"error","error":{"type":"overloaded_error","message":"m"}}', 'overload'],
  ]) {
    expect(chatPassage().readReply(body ?? '', quirks)).toMatchObject({ kind: 'failed', failure: { kind } })
  }
})

/** A client of this dialect at a chat upstream. */
function messagesPassage(fields: object = {}) {
  const text = JSON.stringify({
    model: 'public',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
    ...fields,
  })
  const read = readMessagesRequest(text, text.length, 'answer')
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  const { body } = read.request
  const client = messagesClientSide({ inputTokens: 11, showThoughts: wantsThoughts(body) })
  return translated(messagesTurn(body), true, client, chatUpstreamSide)
}

const png = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
const full = {
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: png },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'CC' }, title: 'a.pdf' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Words.' }, title: 'Notes' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'EqoB' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } },
        { type: 'tool_use', id: 't2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'image', source: png }] },
        { type: 'tool_result', tool_use_id: 't2', content: 'nothing', is_error: true },
        { type: 'text', text: 'And?' },
      ],
    },
  ],
  tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} }, strict: true }],
  tool_choice: { type: 'any', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 5_000 },
  output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
  metadata: { user_id: 'u1' },
  stop_sequences: ['END'],
  temperature: 1,
  top_k: 5,
  context_management: {},
}

test('a full request of this dialect as chat', () => {
  const adapter = messagesPassage(full)
  const { body, dropped, path } = adapter.request({ upstreamModel: 'theirs', outputTokensMax: 50, quirks })
  const call = (id: string, args: string): object => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: args },
  })
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  expect(JSON.parse(body)).toEqual({
    model: 'theirs',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          image,
          { type: 'file', file: { file_data: 'data:application/pdf;base64,CC', filename: 'a.pdf' } },
          { type: 'text', text: 'Notes\n\nWords.' },
        ],
      },
      { role: 'assistant', content: 'I look.', tool_calls: [call('t1', '{"at":1}'), call('t2', '{}')] },
      { role: 'tool', tool_call_id: 't1', content: 'The result is shown below.' },
      { role: 'tool', tool_call_id: 't2', content: 'nothing' },
      { role: 'user', content: [image] },
      { role: 'user', content: 'And?' },
    ],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 50,
    temperature: 1,
    top_k: 5,
    stop: ['END'],
    user: 'u1',
    reasoning_effort: 'medium',
    tools: [
      {
        type: 'function',
        function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, strict: true },
      },
    ],
    tool_choice: 'required',
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } },
  })
  expect([path, dropped]).toEqual([
    '/chat/completions',
    ['context_management', 'cache_control', 'reasoning', 'is_error'],
  ])
})

test('content that another dialect cannot express is refused with its place', () => {
  const tools = [{ type: 'bash_20250124', name: 'bash' }]
  expect(messagesPassage({ tools }).obstacle).toMatchObject({ param: 'tools[0].type' })
  const messages = [{ role: 'user', content: [{ type: 'container_upload', file_id: 'x' }] }]
  expect(messagesPassage({ messages }).obstacle).toMatchObject({ param: 'messages[0].content[0].type' })
})

type WireEvent = { type: string; index?: number; [field: string]: unknown }
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'u', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const chatStream = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'Hm.' }),
  chunk({ content: 'Hel' }),
  chunk({ content: 'lo' }),
  chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
  chunk({}, 'tool_calls'),
  `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, prompt_tokens_details: { cached_tokens: 6 } } })}\n\n`,
  'data: [DONE]\n\n',
].join('')

test('a chat stream for a client of this dialect: events in order, usage at the end', () => {
  const text = pass(messagesPassage({ thinking: { type: 'adaptive' } }), chatStream)
  const start = { type: 'message', id: 'msg_1', role: 'assistant', model: 'public', content: [] }
  const usage = { input_tokens: 11, output_tokens: 0 }
  const block = (index: number, content_block: object): object => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const delta = (index: number, one: object): object => ({ type: 'content_block_delta', index, delta: one })
  const stop = (index: number): object => ({ type: 'content_block_stop', index })
  expect(parse<object>(text)).toEqual([
    { type: 'message_start', message: { ...start, stop_reason: null, stop_sequence: null, usage } },
    block(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(0, { type: 'signature_delta', signature: 'tollgate-seal:' }),
    stop(0),
    block(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'Hel' }),
    delta(1, { type: 'text_delta', text: 'lo' }),
    stop(1),
    block(2, { type: 'tool_use', id: 'c', name: 'f', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"a":1}' }),
    stop(2),
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: expect.objectContaining({ input_tokens: 3, cache_read_input_tokens: 6, output_tokens: 4 }),
    },
    { type: 'message_stop' },
  ])
  expect(text).not.toContain('[DONE]')
  const unasked = parse<WireEvent>(pass(messagesPassage(), chatStream))
  expect(JSON.stringify(unasked)).not.toContain('"thinking"')
})

test('for any deltas, blocks open and close in order and the message ends', () => {
  const sealed = fc.constantFrom<SealedData>({ origin: 'gemini', data: 'g' }, thought, secret)
  const text = fc.string({ minLength: 1, maxLength: 5 })
  const anyDelta = fc.oneof<fc.Arbitrary<Delta>[]>(
    fc.record({ kind: fc.constantFrom('text', 'reasoning', 'refusal'), choice: fc.constant(0), text }),
    fc.record({ kind: fc.constant('sealed'), choice: fc.constant(0), sealed }),
    fc.record({
      kind: fc.constant('call'),
      choice: fc.constant(0),
      call: fc.nat(2),
      id: text,
      name: text,
      tool: fc.constant('function'),
      sealed: fc.option(sealed, { nil: undefined }),
    }),
  )
  const property = fc.property(fc.array(fc.array(anyDelta), { maxLength: 8 }), fc.boolean(), (steps, showThoughts) => {
    const encoder = messagesClientSide({ inputTokens: 1, showThoughts }).encoder(answer)
    const events = parse<WireEvent>(steps.map((deltas) => encoder.encode(deltas)).join('') + encoder.end(counted))
    let open: number | undefined
    let next = 0
    for (const { type, index } of events) {
      if (type === 'content_block_start') {
        expect([open, index]).toEqual([undefined, next++])
        open = index
      }
      if (type === 'content_block_delta') expect(open).toBe(index ?? -1)
      if (type === 'content_block_stop') {
        expect(open).toBe(index ?? -1)
        open = undefined
      }
    }
    const types = events.map(({ type }) => type)
    expect([types[0], types.at(-2), types.at(-1)]).toEqual(['message_start', 'message_delta', 'message_stop'])
    expect(types.filter((type) => type === 'message_start')).toHaveLength(1)
  })
  fc.assert(property, { numRuns: 500 })
})

test('seals of other dialects pass a client of this one and come back to their own dialect', () => {
  const seals: SealedData[] = [
    { origin: 'gemini', data: 'a:b/c==', form: 'thought:x' },
    { origin: 'responses', data: 'rs_1', form: undefined },
  ]
  for (const sealed of seals) {
    for (const belongsTo of ['thought', 'call'] as const) {
      expect(readStamp(signatureOf(sealed, belongsTo))).toEqual({ sealed, belongsTo })
    }
  }
  expect(readStamp('EqoBCkgIARABGAIiQ')).toBeUndefined()
  expect(readStamp('tollgate-seal:call:messages::forged')).toEqual({ sealed: undefined, belongsTo: 'thought' })
  const [ofCall] = seals
  const reasoning = { kind: 'reasoning', text: 'Hm.', sealed: seals[1] } as const
  const called = { kind: 'tool_call', id: 't', name: 'f', arguments: '{}', tool: 'function', sealed: ofCall } as const
  const client = messagesClientSide({ inputTokens: 1, showThoughts: true })
  const written = client.reply(
    { choices: [{ parts: [reasoning, called], finish: 'tool_calls' }], usage: counted },
    answer,
    counted,
  )
  const { content } = JSON.parse(written) as { content: object[] }
  const turn = messagesTurn({ model: 'm', messages: [{ role: 'assistant', content: content as [] }] })
  expect(turn).toMatchObject({ turn: { messages: [{ role: 'assistant', parts: [reasoning, called] }] } })
})

test('a deferred tool is available once a result refers to it, as Claude Code 2.1.332 loads tools', () => {
  const schema = { type: 'object', properties: {} }
  const tools = [
    { name: 'ToolSearch', input_schema: schema },
    { name: 'DeferredToolPlaceholder', input_schema: schema, defer_loading: true },
    { name: 'mcp__words__secret_word', input_schema: schema, defer_loading: true },
  ]
  const asked = [{ role: 'user', content: 'The word?' }]
  const answered = [
    ...asked,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'word' } }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'tool_reference', tool_name: 'mcp__words__secret_word' }],
        },
      ],
    },
  ]
  const namesOf = (body: object): unknown => {
    const read = messagesTurn({ model: 'm', max_tokens: 5, ...body } as never)
    return read.kind === 'turn' ? read.turn.tools.map(({ name }) => name) : read.failure
  }
  expect(namesOf({ tools, messages: asked })).toEqual(['ToolSearch'])
  expect(namesOf({ tools, messages: answered })).toEqual(['ToolSearch', 'mcp__words__secret_word'])
})

test('a block of a vendor’s own tool is left out for other vendors, and named', () => {
  const content = [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    { type: 'text', text: 'Found.' },
  ]
  const read = messagesTurn({ model: 'm', max_tokens: 5, messages: [{ role: 'assistant', content }] } as never)
  expect(read).toMatchObject({
    kind: 'turn',
    turn: {
      messages: [{ role: 'assistant', parts: [{ kind: 'text', text: 'Found.' }] }],
      foreign: ['messages.server_tool_use', 'messages.web_search_tool_result'],
    },
  })
})
