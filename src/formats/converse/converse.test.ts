/** Turns of other dialects as Converse requests, and Converse answers and failures as neutral ones. */
import { describe, expect, test } from 'bun:test'
import { readChatRequest } from '../../../test/support/read-chat.ts'
import type { Turn } from '../../domain/turn.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import { chatTurn } from '../chat/turn.ts'
import type { WriterQuirks } from '../core/contract.ts'
import { DocumentNames } from './media.ts'
import { converseUpstreamSide } from './upstream-side.ts'

const quirks: WriterQuirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' }
const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const NOVA = 'amazon.nova-pro-v1:0'
const LLAMA = 'us.meta.llama4-maverick-17b-instruct-v1:0'
const hi = { role: 'user', content: 'Hi' }

function turnOf(fields: object): Turn {
  const text = JSON.stringify({ model: 'public', messages: [hi], ...fields })
  const read = readChatRequest(text, text.length)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  const turn = chatTurn(read.request.body)
  if (turn.kind === 'rejected') throw new Error(turn.failure.message)
  return turn.turn
}

type Body = Record<string, unknown>
type WrittenRequest = { readonly body: Body; readonly dropped: readonly string[]; readonly path: string }
type Place = { readonly stream?: boolean; readonly outputTokensMax?: number; readonly most?: number }

/** A chat request as the upstream gets it. */
function write(
  fields: object,
  upstreamModel = NOVA,
  { stream = false, outputTokensMax, most }: Place = {},
): WrittenRequest {
  const to = { upstreamModel, outputTokensMax, modelOutputTokensMax: most, quirks }
  const { body, dropped, path } = converseUpstreamSide.write(turnOf(fields), stream, to)
  return { body: JSON.parse(body) as Body, dropped, path }
}

const obstacle = (fields: object) => converseUpstreamSide.obstacle?.(turnOf(fields))?.message

const look = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }
const call = (id: string, args = '{"a":1.0}'): object => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: args },
})
const image = (url: string): object => ({ type: 'image_url', image_url: { url } })
const file = (type: string, filename?: string): object => ({
  type: 'file',
  file: { file_data: `data:${type};base64,AAAA`, filename },
})

describe('requests', () => {
  test('a conversation with everything in it', () => {
    const { body, dropped, path } = write(
      {
        messages: [
          {
            role: 'system',
            content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
          },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              image('data:image/jpg;base64,AAAA'),
              file('application/pdf', 'a_b.v1.pdf'),
              file('text/x-log', 'a_b.v1.txt'),
              { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
            ],
          },
          { role: 'assistant', content: 'I look.', tool_calls: [call('c1'), call('c2', 'no json')] },
          { role: 'tool', tool_call_id: 'c1', content: 'A cat.' },
          { role: 'tool', tool_call_id: 'c2', content: '' },
          { role: 'user', content: 'And?' },
        ],
        tools: [look],
        temperature: 0.5,
        top_p: 0.9,
        stop: ['END', ' '],
        seed: 1,
      },
      CLAUDE,
      { outputTokensMax: 100 },
    )
    expect(body).toEqual({
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'What is this?' },
            { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
            { document: { format: 'pdf', name: 'a b v1', source: { bytes: 'AAAA' } } },
            { document: { format: 'txt', name: 'a b v1 2', source: { bytes: 'AAAA' } } },
            { audio: { format: 'mp3', source: { bytes: 'BBBB' } } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { text: 'I look.' },
            { toolUse: { toolUseId: 'c1', name: 'look', input: { a: 1 } } },
            { toolUse: { toolUseId: 'c2', name: 'look', input: { arguments: 'no json' } } },
          ],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'c1', content: [{ text: 'A cat.' }] } },
            { toolResult: { toolUseId: 'c2', content: [{ text: '(no output)' }] } },
            { text: 'And?' },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ['END'] },
      toolConfig: {
        tools: [{ toolSpec: { name: 'look', description: 'Looks.', inputSchema: { json: { type: 'object' } } } }],
      },
    })
    expect(dropped.toSorted()).toEqual(['seed', 'top_p'])
    expect(path).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse')
  })

  test('the model stands in the path, escaped, and a name behind it is not sent', () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1'
    const { path, body } = write({ tools: [look], tool_choice: 'required' }, `${arn}#${NOVA}`, { stream: true })
    expect(path).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1/converse-stream',
    )
    expect(body['toolConfig']).toMatchObject({ toolChoice: { any: {} } })
    expect(write({}, '../x').path).toBe('/model/_%2Fx/converse')
  })

  test('a number in arguments keeps its digits', () => {
    const messages = [hi, { role: 'assistant', tool_calls: [call('c', '{"n":12345678901234567890}')] }]
    const { body } = converseUpstreamSide.write(turnOf({ messages, tools: [look] }), false, {
      upstreamModel: NOVA,
      outputTokensMax: 1,
      quirks,
    })
    expect(body).toContain('"n":12345678901234567890')
  })

  test('the output limit is never above the model’s, and is the model’s if nobody sets one', () => {
    const limitOf = (model: string, place: Place): unknown => write({}, model, place).body['inferenceConfig']
    expect(limitOf(NOVA, { outputTokensMax: 50_000, most: 10_000 })).toEqual({ maxTokens: 10_000 })
    expect(limitOf(NOVA, { most: 10_000 })).toEqual({ maxTokens: 10_000 })
    expect(limitOf(NOVA, {})).toBeUndefined()
    expect(limitOf(CLAUDE, {})).toEqual({ maxTokens: 64_000 })
  })

  test('a document never stands without text, and a name never twice', () => {
    const { body } = write({ messages: [{ role: 'user', content: [file('application/pdf')] }] })
    expect(body['messages']).toMatchObject([
      { content: [{ document: { name: 'document' } }, { text: 'See the document.' }] },
    ])
    const names = new DocumentNames()
    const [long, cut] = ['a'.repeat(300), 'a'.repeat(192)]
    expect(
      ['报告.pdf', 'John’s  report #1.pdf', 'john s report 1', long, undefined, long, long].map((name) =>
        names.of(name),
      ),
    ).toEqual(['document', 'John s report 1', 'john s report 1 2', cut, 'document 2', `${cut} 2`, `${cut} 3`])
  })

  test('thousands of calls at once take no longer than their number', () => {
    const count = 20_000
    const ids = Array.from({ length: count }, (_, i) => `c${i}`)
    const parts = ids.map((id) => ({
      kind: 'tool_call' as const,
      id,
      name: 'f',
      arguments: '{}',
      tool: 'function' as const,
    }))
    const text = { kind: 'text' as const, text: 'x', cache: '5m' as const }
    const results = ids.map((callId) => ({ role: 'tool' as const, callId, parts: [text] }))
    const turn: Turn = { ...turnOf({}), messages: [{ role: 'assistant', parts }, ...results] }
    const startedUs = process.cpuUsage().user
    const { body } = converseUpstreamSide.write(turn, false, { upstreamModel: CLAUDE, outputTokensMax: 9, quirks })
    expect(body.split('cachePoint')).toHaveLength(5)
    expect(body.split('toolResult')).toHaveLength(count + 1)
    expect(process.cpuUsage().user - startedUs).toBeLessThan(2_000_000)
  })

  test('what the format cannot say is refused', () => {
    const said = (part: object): string | undefined => obstacle({ messages: [{ role: 'user', content: [part] }] })
    expect(said(image('https://a.b/c.png'))).toBe('This model takes no image by address: send it as data.')
    // Amazon would read it with the operator's rights.
    expect(said(image('s3://bucket/secret.png'))).toContain('no image by address')
    expect(said(image('data:image/svg+xml;base64,AAAA'))).toBe('This model takes no image/svg+xml.')
    expect(said(file('application/zip'))).toBe('This model takes no application/zip.')
    expect(obstacle({ n: 2 })).toContain('one choice')
    expect(obstacle({ messages: [hi, { role: 'tool', tool_call_id: 'x', content: 'y' }] })).toContain("the call 'x'")
    expect(obstacle({})).toBeUndefined()
  })
})

describe('families', () => {
  const choiceOf = (choice: unknown, model: string): unknown => {
    const { body, dropped } = write({ tools: [look], tool_choice: choice }, model)
    return (body['toolConfig'] as Body | undefined)?.['toolChoice'] ?? dropped
  }
  const named = { type: 'function', function: { name: 'look' } }

  test('a choice that a model does not take is left out and named', () => {
    expect([choiceOf('required', NOVA), choiceOf(named, CLAUDE)]).toEqual([{ any: {} }, { tool: { name: 'look' } }])
    expect([choiceOf('auto', NOVA), choiceOf('required', LLAMA)]).toEqual([[], ['tool_choice']])
    expect(choiceOf(named, 'mistral.mistral-large-2407-v1:0')).toEqual(['tool_choice'])
  })

  test('the format has no choice that forbids calls', () => {
    expect(write({ tools: [look], tool_choice: 'none' }).body['toolConfig']).toBeUndefined()
    const messages = [
      hi,
      { role: 'assistant', tool_calls: [call('c')] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ]
    const without = write({ messages })
    expect(without.body).toMatchObject({
      system: [{ text: 'Answer in words now. Do not call any tool.' }],
      toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }] },
    })
    expect(write({ messages, tools: [look], tool_choice: 'none' }).dropped).toEqual(['tool_choice'])
  })

  test('tools that a choice allows are the only ones, and none of them is no field', () => {
    const tools = [look, { type: 'function', function: { name: 'other' } }]
    const allow = (...names: string[]): unknown => {
      const allowed = names.map((name) => ({ type: 'function', function: { name } }))
      const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: allowed } }
      return write({ tools, tool_choice }).body['toolConfig']
    }
    expect(allow('other')).toMatchObject({ tools: [{ toolSpec: { name: 'other' } }], toolChoice: { any: {} } })
    expect(allow('none')).toBeUndefined()
  })

  test('Llama gets tool blocks in messages of their own, and no stream with tools', () => {
    const messages = [
      hi,
      { role: 'assistant', content: 'I look.', tool_calls: [call('c')] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
      { role: 'user', content: 'And?' },
    ]
    const { body, path } = write({ messages, tools: [look] }, LLAMA, { stream: true })
    expect(path).toEndWith('/converse')
    expect(
      (body['messages'] as Body[]).map(({ role, content }) => [
        role,
        (content as Body[]).map((one) => Object.keys(one)[0]),
      ]),
    ).toEqual([
      ['user', ['text']],
      ['assistant', ['text']],
      ['user', ['text']],
      ['assistant', ['toolUse']],
      ['user', ['toolResult']],
      ['assistant', ['text']],
      ['user', ['text']],
    ])
    expect(write({}, LLAMA, { stream: true }).path).toEndWith('/converse-stream')
    expect(write({ tools: [look] }, 'arn:aws:bedrock:x', { stream: true }).path).toEndWith('/converse')
  })

  test('Nova’s tools have a plain root', () => {
    const parameters = {
      $schema: 'x',
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      required: ['a'],
      additionalProperties: false,
      $defs: { a: { type: 'string' } },
    }
    const { body } = write({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
    expect(body['toolConfig']).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'f',
            inputSchema: { json: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
          },
        },
      ],
    })
  })

  test('cache points are the last four, and stand where a model takes them', () => {
    const cached = (text: string): object => ({ type: 'text', text, cache_control: { type: 'ephemeral' } })
    const messages = [{ role: 'user', content: ['1', '2', '3', '4', '5'].map(cached) }]
    const pointsOf = (body: Body): number => JSON.stringify(body).split('cachePoint').length - 1
    const claude = write({ messages }, CLAUDE)
    expect([pointsOf(claude.body), claude.dropped]).toEqual([4, ['cache_control']])
    expect(JSON.stringify(claude.body['messages'])).toStartWith('[{"role":"user","content":[{"text":"1"},{"text":"2"}')
    const llama = write({ messages }, LLAMA)
    expect([pointsOf(llama.body), llama.dropped]).toEqual([0, ['cache_control']])
    const called = [
      hi,
      { role: 'assistant', tool_calls: [call('c')] },
      { role: 'tool', tool_call_id: 'c', content: [cached('x')] },
    ]
    expect(pointsOf(write({ messages: called, tools: [look] }).body)).toBe(0)
    expect(pointsOf(write({ messages: called, tools: [look] }, CLAUDE).body)).toBe(1)
  })

  test('an effort goes where the model has it', () => {
    const fieldsOf = (effort: string, model: string): unknown => {
      const { body, dropped } = write({ reasoning_effort: effort, temperature: 0.5 }, model, {
        outputTokensMax: 10_000,
      })
      return { fields: body['additionalModelRequestFields'], config: body['inferenceConfig'], dropped }
    }
    expect(fieldsOf('low', CLAUDE)).toMatchObject({
      fields: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
      dropped: ['temperature'],
    })
    expect(fieldsOf('high', 'anthropic.claude-opus-4-6-v1')).toMatchObject({
      fields: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    })
    // The effort high forbids an output limit.
    expect(fieldsOf('high', 'us.amazon.nova-2-lite-v1:0')).toEqual({
      fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
      config: { maxTokens: 10_000 },
      dropped: ['temperature'],
    })
    expect(fieldsOf('xhigh', 'openai.gpt-oss-120b-1:0')).toMatchObject({
      fields: { reasoning_effort: 'high' },
      dropped: [],
    })
    expect(fieldsOf('low', LLAMA)).toMatchObject({ dropped: ['reasoning_effort'] })
    expect(fieldsOf('none', NOVA)).toEqual({ config: { maxTokens: 10_000, temperature: 0.5 }, dropped: [] })
  })

  test('top_k goes where the model has it', () => {
    const fieldsOf = (model: string): unknown => {
      const { body, dropped } = write({ top_k: 5 }, model)
      return body['additionalModelRequestFields'] ?? dropped
    }
    expect([CLAUDE, NOVA, 'cohere.command-r-plus-v1:0', LLAMA].map(fieldsOf)).toEqual([
      { top_k: 5 },
      { inferenceConfig: { topK: 5 } },
      { k: 5 },
      ['top_k'],
    ])
  })

  test('a schema for the answer is a field, or words', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 1 } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } }
    expect(write({ response_format }, CLAUDE).body['outputConfig']).toMatchObject({
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: 'n', schema: expect.stringContaining('"additionalProperties":false') } },
      },
    })
    const { body, dropped } = write({ response_format, messages: [{ role: 'system', content: 'S' }, hi] })
    expect(body['system']).toEqual([{ text: expect.stringContaining('"minimum":1') }, { text: 'S' }])
    expect(dropped).toEqual(['response_format.json_schema'])
  })

  test('a model without system prompts is told by its user', () => {
    const { body } = write({ messages: [{ role: 'system', content: 'S' }, hi] }, 'mistral.mixtral-8x7b-instruct-v0:1')
    expect(body).toMatchObject({ messages: [{ role: 'user', content: [{ text: 'S' }, { text: 'Hi' }] }] })
    expect(body).not.toHaveProperty('system')
  })

  test('temperatures end at 1', () => {
    expect(write({ temperature: 1.5 })).toMatchObject({
      body: { inferenceConfig: { temperature: 1 } },
      dropped: ['temperature>1'],
    })
  })
})

const seal = (origin: 'converse' | 'messages', form?: string) => ({
  kind: 'reasoning' as const,
  text: 'T',
  sealed: { origin, data: 'S', form },
})

test('signed thoughts go back to models that sign, and to no other', () => {
  const turn: Turn = {
    ...turnOf({}),
    messages: [
      { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        parts: [seal('converse'), seal('converse', 'redacted'), seal('messages'), { kind: 'text', text: 'A' }],
      },
      { role: 'user', parts: [{ kind: 'text', text: 'B' }] },
    ],
  }
  const sent = (upstreamModel: string) =>
    converseUpstreamSide.write(turn, false, { upstreamModel, outputTokensMax: 9, quirks })
  expect(JSON.parse(sent(CLAUDE).body)).toMatchObject({
    messages: [
      {},
      {
        content: [
          { reasoningContent: { reasoningText: { text: 'T', signature: 'S' } } },
          { reasoningContent: { redactedContent: 'S' } },
          { text: 'A' },
        ],
      },
      {},
    ],
  })
  expect(sent(CLAUDE).dropped).toEqual(['reasoning'])
  expect(sent(NOVA).body).not.toContain('reasoningContent')
})

const usage = {
  inputTokens: 5,
  outputTokens: 7,
  totalTokens: 42,
  cacheReadInputTokens: 10,
  cacheWriteInputTokens: 20,
  cacheDetails: [
    { ttl: '1h', inputTokens: 15 },
    { ttl: '5m', inputTokens: 5 },
  ],
}
const asUsage = { inputFresh: 5, inputCached: 10, cacheWrite5m: 5, cacheWrite1h: 15, outputText: 7, outputReasoning: 0 }
const content = [
  { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'S' } } },
  { reasoningContent: { redactedContent: 'UkVE' } },
  { text: 'I look.' },
  { toolUse: { toolUseId: 't1', name: 'look', input: { n: 1 } } },
  { toolUse: { toolUseId: 't2', name: 'look', input: {} } },
]
const wholeOf = (fields: object): string =>
  JSON.stringify({ output: { message: { role: 'assistant', content } }, usage, ...fields })

const event = (name: string, body: object): SseEvent => ({ name, data: JSON.stringify({ ...body, p: 'abc' }) })
const delta = (contentBlockIndex: number, one: object): SseEvent =>
  event('contentBlockDelta', { contentBlockIndex, delta: one })
const start = (contentBlockIndex: number, toolUseId: string): SseEvent =>
  event('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name: 'look' } } })
const stop = (contentBlockIndex: number): SseEvent => event('contentBlockStop', { contentBlockIndex })
const streamed: readonly SseEvent[] = [
  event('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: 'H' } }),
  delta(0, { reasoningContent: { text: 'm.' } }),
  delta(0, { reasoningContent: { signature: 'S' } }),
  stop(0),
  delta(1, { reasoningContent: { redactedContent: 'UkVE' } }),
  stop(1),
  delta(2, { text: 'I ' }),
  delta(2, { text: 'look.' }),
  stop(2),
  start(3, 't1'),
  delta(3, { toolUse: { input: '{"n":' } }),
  delta(3, { toolUse: { input: '1}' } }),
  stop(3),
  start(4, 't2'),
  stop(4),
  event('messageStop', { stopReason: 'tool_use' }),
  event('metadata', { usage, metrics: { latencyMs: 1 } }),
]

const turn = turnOf({})
const readWhole = (text: string) => converseUpstreamSide.readReply(text, quirks, turn)

describe('answers', () => {
  test('a whole one', () => {
    expect(readWhole(wholeOf({ stopReason: 'tool_use' }))).toEqual({
      kind: 'reply',
      reply: {
        choices: [
          {
            parts: [
              { kind: 'reasoning', text: 'Hm.', sealed: { origin: 'converse', data: 'S' } },
              { kind: 'reasoning', text: '', sealed: { origin: 'converse', form: 'redacted', data: 'UkVE' } },
              { kind: 'text', text: 'I look.' },
              { kind: 'tool_call', id: 't1', name: 'look', arguments: '{"n":1}', tool: 'function' },
              { kind: 'tool_call', id: 't2', name: 'look', arguments: '{}', tool: 'function' },
            ],
            finish: 'tool_calls',
          },
        ],
        usage: asUsage,
      },
    })
  })

  test.each([
    ['end_turn', 'tool_calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['a new one', 'tool_calls'],
  ])('the stop reason %s', (stopReason, finish) => {
    expect(readWhole(wholeOf({ stopReason }))).toMatchObject({ reply: { choices: [{ finish }] } })
  })

  test('text with sources is text', () => {
    const cited = [{ citationsContent: { content: [{ text: 'A' }, { text: 'B' }], citations: [] } }, { image: {} }]
    const text = JSON.stringify({ output: { message: { content: cited } }, stopReason: 'end_turn' })
    expect(readWhole(text)).toMatchObject({
      reply: { choices: [{ parts: [{ kind: 'text', text: 'AB' }], finish: 'stop' }] },
    })
  })

  test('what is no answer is none', () => {
    expect(readWhole('<html>')).toMatchObject({ failure: { kind: 'garbage' } })
    expect(readWhole('{"output":{"message":{"content":"x"}}}')).toMatchObject({ failure: { kind: 'garbage' } })
    expect(readWhole(wholeOf({ stopReason: 'malformed_tool_use' }))).toMatchObject({
      failure: { kind: 'server', isDoubtful: true },
    })
    const unknown = '{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException"},"Version":"1.0"}'
    expect(readWhole(unknown)).toMatchObject({ failure: { code: 'UnknownOperationException' } })
    expect(readWhole('{"message":"Too many requests"}')).toMatchObject({ failure: { kind: 'server' } })
  })

  test('a stream', () => {
    const decoder = converseUpstreamSide.decoder(quirks, turn)
    const deltas = streamed.flatMap((one): readonly unknown[] => {
      const decoded = decoder.decode(one)
      return decoded.kind === 'deltas' ? decoded.deltas : [decoded]
    })
    expect(deltas).toEqual([
      { kind: 'reasoning', choice: 0, text: 'H' },
      { kind: 'reasoning', choice: 0, text: 'm.' },
      { kind: 'sealed', choice: 0, sealed: { origin: 'converse', data: 'S' } },
      { kind: 'sealed', choice: 0, sealed: { origin: 'converse', form: 'redacted', data: 'UkVE' } },
      { kind: 'text', choice: 0, text: 'I ' },
      { kind: 'text', choice: 0, text: 'look.' },
      { kind: 'call', choice: 0, call: 0, id: 't1', name: 'look', tool: 'function' },
      { kind: 'arguments', choice: 0, call: 0, text: '{"n":' },
      { kind: 'arguments', choice: 0, call: 0, text: '1}' },
      { kind: 'call', choice: 0, call: 1, id: 't2', name: 'look', tool: 'function' },
      { kind: 'arguments', choice: 0, call: 1, text: '{}' },
      { kind: 'finish', choice: 0, reason: 'tool_calls' },
    ])
    expect([decoder.finished, decoder.usage]).toEqual([true, asUsage])
  })

  test('a stream put together, and a whole reply taken apart, tell the same', () => {
    const collector = converseUpstreamSide.collector()
    for (const one of streamed) collector.add(one)
    expect(readWhole(collector.text())).toEqual(readWhole(wholeOf({ stopReason: 'tool_use' })))
    const again = converseUpstreamSide.collector()
    for (const one of converseUpstreamSide.eventsOfReply?.(wholeOf({ stopReason: 'tool_use' })) ?? []) again.add(one)
    expect(readWhole(again.text())).toEqual(readWhole(wholeOf({ stopReason: 'tool_use' })))
  })

  test('a cut stream ends at its length, with the call as far as it came', () => {
    const collector = converseUpstreamSide.collector()
    for (const one of streamed.slice(0, 12)) collector.add(one)
    collector.cutAtLength?.()
    expect(readWhole(collector.text())).toMatchObject({
      reply: {
        choices: [{ parts: [{}, {}, {}, { id: 't1', arguments: '{"n":' }], finish: 'length' }],
        usage: undefined,
      },
    })
  })

  test('a whole reply that is none has no answer in its events', () => {
    const decoder = converseUpstreamSide.decoder(quirks, turn)
    const decoded = converseUpstreamSide.eventsOfReply?.('{"x":1}').map((one) => decoder.decode(one))
    expect([decoded, decoder.finished]).toEqual([[{ kind: 'deltas', deltas: [] }], false])
  })

  test('a vendor cannot open blocks without end', () => {
    const decoder = converseUpstreamSide.decoder(quirks, turn)
    const decoded = Array.from({ length: 2_000 }, (_, i) => decoder.decode(start(i, `t${i}`)))
    expect(decoded.at(-1)).toMatchObject({ kind: 'failed', failure: { isExcess: true } })
  })
})

describe('failures', () => {
  const read = (status: number, type: string, message: string) => {
    const headers = new Map(type === '' ? [] : [['x-amzn-errortype', `${type}:http://internal.amazon.com/coral/`]])
    return converseUpstreamSide.failures.response(status, headers, JSON.stringify({ message }))
  }

  test.each([
    [400, 'ValidationException', 'A conversation must start with a user message.', 'bad_request'],
    [400, 'ValidationException', 'The model returned the following errors: prompt is too long', 'context_length'],
    [
      400,
      'ValidationException',
      'The model returned the following errors: Output blocked by content filtering policy',
      'policy',
    ],
    [404, 'FTUFormNotFilled', 'Model use case details have not been submitted for this account.', 'model_gone'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'model_gone'],
    [400, 'ServiceQuotaExceededException', 'Your request exceeds the service quota.', 'rate'],
    [429, 'ThrottlingException', 'Too many tokens, please wait before trying again.', 'rate'],
    [429, 'ModelNotReadyException', 'The model is not ready.', 'overload'],
    [403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.", 'model_gone'],
    [403, 'AccessDeniedException', 'Authentication failed: Please make sure your API Key is valid.', 'auth'],
    [403, 'ExpiredTokenException', 'The security token included in the request is expired', 'auth'],
    [404, 'ResourceNotFoundException', 'This model version has reached the end of its life.', 'model_gone'],
    [408, 'ModelTimeoutException', 'Too long.', 'timeout'],
    [424, 'ModelErrorException', 'Model produced invalid sequence as part of ToolUse.', 'server'],
    [500, 'InternalServerException', 'Sorry.', 'server'],
    [503, 'ServiceUnavailableException', 'Sorry.', 'overload'],
    [502, '', 'Bad gateway', 'server'],
  ])('%i %s: %s', (status, type, message, kind) => {
    expect(read(status, type, message)).toMatchObject({ status, kind, message, isQuoted: true })
  })

  test('a model that fails at one request is not at fault for all', () => {
    expect(read(424, 'ModelErrorException', 'x').isDoubtful).toBe(true)
    expect(read(500, 'InternalServerException', 'x').isDoubtful).toBeUndefined()
  })

  test.each([
    ['throttlingException', 'rate'],
    ['modelStreamErrorException', 'server'],
    ['serviceUnavailableException', 'overload'],
    ['internalServerException', 'server'],
    ['validationException', 'bad_request'],
    ['modelTimeoutException', 'timeout'],
  ])('the exception %s in a stream', (name, kind) => {
    const decoded = converseUpstreamSide.decoder(quirks, turn).decode({ name, data: '{"message":"No."}' })
    expect(decoded).toMatchObject({ kind: 'failed', failure: { kind, message: 'No.' } })
  })

  test('an error of the protocol, a broken end and an event that is no JSON', () => {
    const decode = (one: SseEvent) => converseUpstreamSide.decoder(quirks, turn).decode(one)
    expect(decode({ name: 'error', data: '{"code":"InternalFailure","message":"x"}' })).toMatchObject({
      failure: { kind: 'server' },
    })
    expect(decode(event('messageStop', { stopReason: 'malformed_model_output' }))).toMatchObject({
      failure: { isDoubtful: true },
    })
    expect(decode({ name: 'contentBlockDelta', data: 'x' })).toMatchObject({ failure: { kind: 'garbage' } })
  })
})
