/** Chat through the neutral turn and back to chat. Nothing that both sides support may be lost. */
import { expect, test } from 'bun:test'
import type { Usage } from '../../domain/usage.ts'
import type { WriterQuirks } from '../core/contract.ts'
import { translated } from '../core/translated.ts'
import { chatClientSide } from './client-side.ts'
import { readChatRequest } from '../../../test/support/read-chat.ts'
import { chatTurn } from './turn.ts'
import { chatUpstreamSide } from './upstream-side.ts'

const quirks: WriterQuirks = {
  outputMaxField: 'max_tokens',
  usageInStream: 'on_request',
  usageDialect: 'inclusive',
}
const answer = { requestId: 'req_1', createdAtMs: 1_000_500, publicModel: 'public' }
const counted: Usage = {
  inputFresh: 3,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 4,
  outputReasoning: 0,
}

function adapter(body: object, stream: boolean, usageAsked: boolean) {
  const text = JSON.stringify({ model: 'public', ...body })
  const read = readChatRequest(text, text.length)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  return translated(chatTurn(read.request.body), stream, chatClientSide(usageAsked), chatUpstreamSide)
}

const full = {
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC', filename: 'a.pdf' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, strict: true },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'look' } },
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' }, strict: true } },
  temperature: 0.5,
  top_p: 0.9,
  stop: ['END'],
  seed: 7,
  n: 2,
  reasoning_effort: 'low',
  parallel_tool_calls: false,
}

test('a request survives the translation', () => {
  const { body, path, dropped } = adapter(full, true, true).request({
    upstreamModel: 'theirs',
    outputTokensMax: 50,
    quirks,
  })
  const [system, ...messages] = full.messages
  expect(JSON.parse(body)).toEqual({
    ...full,
    model: 'theirs',
    messages: [{ ...system, role: 'system' }, ...messages],
    max_tokens: 50,
    stream: true,
    stream_options: { include_usage: true },
  })
  expect([path, dropped]).toEqual(['/chat/completions', []])
})

test('fields that no other dialect has are named', () => {
  const body = {
    messages: [{ role: 'user', content: 'hi' }],
    logit_bias: { 1: 2 },
    prediction: null,
    modalities: ['text'],
  }
  expect(adapter(body, false, false).request({ upstreamModel: 'x', outputTokensMax: 1, quirks }).dropped).toEqual([
    'logit_bias',
    'modalities',
  ])
})

test('content that a turn cannot carry is refused with its place', () => {
  const body = { messages: [{ role: 'user', content: [{ type: 'thinking', thinking: 'hm' }] }] }
  expect(adapter(body, false, false).obstacle).toMatchObject({ param: 'messages[0].content[0].type' })
})

test('a whole reply survives the translation', async () => {
  const message = {
    role: 'assistant',
    content: null,
    refusal: null,
    reasoning_content: 'Hm.',
    tool_calls: [{ id: 'c2', type: 'function', function: { name: 'look', arguments: '{}' } }],
  }
  const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 }
  const reply = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }
  const read = await adapter(full, false, false).readReply(JSON.stringify(reply), quirks)
  if (read.kind === 'failed') throw new Error(read.failure.message)
  expect(JSON.parse(read.reply.write(answer, read.reply.usage ?? counted))).toMatchObject({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_000,
    model: 'public',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage,
  })
})

test('a stream survives the translation: every delta, one finish, usage only on request', () => {
  const chunk = (delta: object, finish: string | null = null): string =>
    JSON.stringify({ id: 'u', choices: [{ index: 0, delta, finish_reason: finish }] })
  const events = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
    chunk({}, 'tool_calls'),
    JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
  ]
  for (const asked of [true, false]) {
    const stream = adapter({ ...full, n: 1 }, true, asked).openStream(answer, quirks)
    let text = ''
    for (const data of events) {
      const read = stream.read({ name: undefined, data })
      if (read.kind === 'chunk') text += read.text
    }
    expect(stream.read({ name: undefined, data: '[DONE]' }).kind).toBe('done')
    expect(stream.finished).toBe(true)
    expect(stream.produced).toMatchObject({ text: 'Hellof{"a":1}', moreChars: 0 })
    text += stream.end(stream.usage ?? counted)
    const written = text
      .split('\n\n')
      .filter(Boolean)
      .map((line) => line.slice('data: '.length))
    expect(written.pop()).toBe('[DONE]')
    const chunks = written.map((line) => JSON.parse(line) as { choices: { delta: object }[]; usage?: object })
    expect(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Hel' },
      { content: 'lo' },
      { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      {},
    ])
    expect(chunks.at(-1)?.usage).toEqual(asked ? expect.objectContaining({ total_tokens: 3 }) : undefined)
  }
})
