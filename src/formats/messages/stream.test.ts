/** Streams within the dialect, from the vendor's documentation (test/fixtures/messages). */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { SseDecoder } from '../../lib/http/sse.ts'
import { MessagesStream } from './stream.ts'
import { readMessagesUsage } from './usage.ts'

const FOLDER = join(import.meta.dir, '../../../test/fixtures/messages')
const recorded = new Map(
  readdirSync(FOLDER).map((file) => [file.replace('.sse', ''), readFileSync(join(FOLDER, file), 'utf8')]),
)
const answer = { requestId: 'req_1', createdAtMs: 0, publicModel: 'public' }
const counted = readMessagesUsage({ input_tokens: 7, output_tokens: 9 })

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const event = (body: { type: string }): string => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`

/** The text that a client gets from an upstream's bytes, and the stream that read them. */
function relay(bytes: readonly Uint8Array[]): { text: string; stream: MessagesStream; end: string; first: number } {
  const decoder = new SseDecoder(1_000_000)
  const stream = new MessagesStream(answer)
  if (!counted) throw new Error('no usage')
  let text = ''
  let first = -1
  for (const [i, one] of [...bytes.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()].entries()) {
    const read = stream.read(one)
    if (read.kind === 'failed') return { text, stream, end: read.failure.kind, first }
    if (read.kind === 'done') return { text: text + stream.end(stream.usage ?? counted), stream, end: 'done', first }
    if (read.meaningful && first === -1) first = i
    text += read.text
  }
  return { text: text + stream.end(stream.usage ?? counted), stream, end: 'closed', first }
}

test.each([...recorded.keys()])('%s reaches the client byte for byte, except for the model’s name', (name) => {
  const text = recorded.get(name) ?? ''
  const { text: got, end } = relay([encode(text)])
  const wanted = text.replace('"model":"claude-opus-4-6"', '"model":"public"')
  if (end === 'done') expect(got).toBe(wanted)
  else expect([wanted.startsWith(got), end]).toEqual([true, 'overload'])
})

test.each([...recorded.keys()])('%s reads the same and bills the same, wherever it is cut', (name) => {
  const bytes = encode(recorded.get(name) ?? '')
  const whole = relay([bytes])
  for (let cut = 0; cut <= bytes.length; cut++) {
    const split = relay([bytes.subarray(0, cut), bytes.subarray(cut)])
    expect([split.text, split.end, split.stream.produced.text]).toEqual([
      whole.text,
      whole.end,
      whole.stream.produced.text,
    ])
    expect(split.stream.usage).toEqual(whole.stream.usage)
  }
})

test('usage and text are metered as they pass', () => {
  const { stream } = relay([encode(recorded.get('thinking-tools') ?? '')])
  expect(stream.usage).toEqual({
    inputFresh: 412,
    inputCached: 0,
    cacheWrite5m: 100,
    cacheWrite1h: 200,
    outputText: 86,
    outputReasoning: 31,
  })
  expect(stream.produced.text).toBe('Two cities, two calls.Let me look.get_weather{"city": "Oslo"}get_time')
  expect(relay([encode(recorded.get('text') ?? '')]).stream.usage).toMatchObject({ inputFresh: 12, inputCached: 900 })
})

test('the start, pings and an empty block do not commit, so another vendor may still answer', () => {
  expect(relay([encode(recorded.get('text') ?? '')]).first).toBe(3)
  expect(relay([encode(recorded.get('refusal') ?? '')]).first).toBe(1)
  expect(relay([encode(recorded.get('server-tool') ?? '')]).first).toBe(1)
})

const start = { type: 'message_start', message: { model: 'claude', usage: { input_tokens: 5, output_tokens: 1 } } }
const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }

test('a missing usage is estimated, and a missing terminator is added', () => {
  const silent = [
    { type: 'message_start', message: { model: 'claude', content: [] } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
  ]
  const { text, stream, end } = relay([encode(silent.map(event).join(''))])
  expect([end, stream.finished, stream.usage]).toEqual(['closed', true, undefined])
  const events = text.split('\n\n').filter(Boolean)
  const parsed = events.map((one) => JSON.parse(one.slice(one.indexOf('data: ') + 6)) as { type: string })
  expect(parsed.map(({ type }) => type)).toEqual([...silent.map(({ type }) => type), 'message_stop'])
  expect(parsed[0]).toMatchObject({ message: { model: 'public', usage: { input_tokens: 0, output_tokens: 0 } } })
  expect(parsed[2]).toMatchObject({ delta: silent[2]?.delta, usage: { input_tokens: 7, output_tokens: 9 } })
})

test('a server that ends with [DONE] is understood, and an end before the stop reason is a failure', () => {
  const done = relay([encode(`${event(start)}${event(stop)}data: [DONE]\n\n`)])
  expect([done.end, done.text.endsWith('data: {"type":"message_stop"}\n\n')]).toEqual(['done', true])
  expect(relay([encode(event(start))]).stream.finished).toBe(false)
})

test('garbage and errors inside the stream are failures', () => {
  const failures = {
    garbage: ['{nope', '"x"', 'null', '{}', '{"type":5}'],
    overload: ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
    server: ['{"type":"error","error":{"type":"api_error","message":"?"}}', '{"type":"error"}'],
  }
  for (const [kind, texts] of Object.entries(failures)) {
    for (const data of texts) expect([data, relay([encode(`data: ${data}\n\n`)]).end]).toEqual([data, kind])
  }
})

test('an error for the client is the dialect’s own event', () => {
  const text = new MessagesStream(answer).fail({ kind: 'upstream_error', message: 'It broke.' })
  expect(text).toStartWith('event: error\ndata: {"type":"error","error":{"type":"api_error","message":"It broke."')
})

const json = fc.jsonValue({ maxDepth: 3 })
const anyEvent = fc
  .tuple(
    fc.constantFrom('content_block_delta', 'content_block_start', 'content_block_stop', 'ping', 'something_new'),
    fc.dictionary(fc.string(), json, { maxKeys: 4 }),
    fc.constantFrom<object[]>(
      { delta: { type: 'text_delta', text: 'a "b" \\ \u0007 世' }, index: 1 },
      { delta: { type: 'input_json_delta', partial_json: '{"model":"q"' } },
      { content_block: { type: 'text', text: '' }, model: 'x' },
      {},
    ),
    fc.nat(2),
  )
  .map(([type, extra, fields, indent]) => {
    return { type, data: JSON.stringify({ ...extra, type, ...fields }, null, indent).replace(/\n/g, ' ') }
  })

test('any event of the format passes byte for byte', () => {
  const property = fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 6 }), (events) => {
    const stream = new MessagesStream(answer)
    for (const { type, data } of events) {
      expect(stream.read({ name: type, data })).toMatchObject({ text: `event: ${type}\ndata: ${data}\n\n` })
    }
  })
  fc.assert(property, { numRuns: 1_000 })
})

test('the fast path for ordinary events reads the same as JSON', () => {
  const word = fc.oneof(fc.string({ minLength: 1, maxLength: 8 }), fc.constantFrom('"', '\\', '\n', '}}', '"}}', ' '))
  const property = fc.property(fc.array(word, { minLength: 1, maxLength: 9 }), fc.nat(3), (words, spaces) => {
    const stream = new MessagesStream(answer)
    for (const text of words) {
      const data = JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
      stream.read({ name: undefined, data: `${data.slice(0, -1)}${' '.repeat(spaces)}}` })
    }
    expect(stream.produced.text).toBe(words.join(''))
  })
  fc.assert(property, { numRuns: 1_000 })
})
