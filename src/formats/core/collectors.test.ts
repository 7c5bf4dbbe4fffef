import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SseDecoder } from '../../lib/http/sse.ts'
import { ChatCollector } from '../chat/collector.ts'
import type { ReplyCollector } from './contract.ts'
import { GeminiCollector } from '../gemini/collector.ts'
import { MessagesCollector } from '../messages/collector.ts'
import { ResponsesCollector } from '../responses/collector.ts'

const SOURCES = join(import.meta.dir, '../../../test/fixtures/golden/source')
const collectors: Readonly<Record<string, () => ReplyCollector>> = {
  chat: () => new ChatCollector(),
  messages: () => new MessagesCollector(),
  gemini: () => new GeminiCollector(),
  responses: () => new ResponsesCollector(),
}
function collectorOf(dialect: string, stream: string): ReplyCollector {
  const collector = collectors[dialect]?.()
  if (!collector) throw new Error(dialect)
  const decoder = new SseDecoder(1_000_000)
  for (const event of [...decoder.push(Buffer.from(stream)), ...decoder.end()]) collector.add(event)
  return collector
}
const collect = (dialect: string, stream: string): Record<string, unknown> =>
  JSON.parse(collectorOf(dialect, stream).text(), unsaid) as Record<string, unknown>
const events = (...all: readonly (object | string)[]): string =>
  all.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('')
const calling = (name: string, more: object = {}): object => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name, ...more } }] } }],
})

/** What a stream never contains. */
const unsaid = (key: string, value: unknown): unknown => (key === 'annotations' ? undefined : value)

test('a huge index makes no list of that length', () => {
  const event = { type: 'response.output_text.delta', output_index: 0, content_index: 4e9, delta: 'x' }
  expect(collect('responses', `data: ${JSON.stringify(event)}\n\n`)).toMatchObject({ output: [{}] })
})

test('a name that comes in pieces is joined, and a repeated name is not', () => {
  const whole = { choices: [{ message: { tool_calls: [{ function: { name: 'get_weather', arguments: '{}' } }] } }] }
  const pieces = [calling('get_'), calling('weather', { arguments: '' }), calling('', { arguments: '{}' })]
  expect(collect('chat', events(...pieces))).toMatchObject(whole)
  const again = [calling('get_weather', { arguments: '{' }), calling('get_weather', { arguments: '}' })]
  expect(collect('chat', events(...again))).toMatchObject(whole)
})

const NUMBERS = '{"id":12345678901234567890,"at":1.0,"many":[1e3,-0],"few":0.10}'
const numbered: Readonly<Record<string, readonly (object | string)[]>> = {
  chat: [`{"choices":[{"index":0,"delta":{"content":"a"},"x":${NUMBERS}}]}`],
  messages: [
    { type: 'message_start', message: { role: 'assistant' } },
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":${NUMBERS}}}`,
    `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7},"x":${NUMBERS}}`,
  ],
  gemini: [`{"candidates":[{"index":0,"content":{"parts":[{"functionCall":{"name":"f","args":${NUMBERS}}}]}}]}`],
  responses: [
    `{"type":"response.output_item.done","output_index":0,"item":{"type":"x","x":${NUMBERS}}}`,
    `{"type":"response.completed","response":{"output":[],"x":${NUMBERS}}}`,
  ],
}
test.each(Object.keys(collectors))('numbers of %s keep their source text', (dialect) => {
  const all = numbered[dialect] ?? []
  const times = events(...all).split(NUMBERS).length
  expect(
    collectorOf(dialect, events(...all))
      .text()
      .split(NUMBERS).length,
  ).toBe(times)
})

test('log probabilities of a Gemini stream cover all its tokens, and a blocked prompt has no candidates', () => {
  const piece = (text: string, logProbability: number): object => ({
    candidates: [
      {
        content: { parts: [{ text }] },
        logprobsResult: {
          chosenCandidates: [{ token: text, logProbability }],
          topCandidates: [{ candidates: [] }],
          logProbabilitySum: logProbability,
        },
      },
    ],
  })
  expect(collect('gemini', events(piece('a', -1), piece('b', -2)))).toMatchObject({
    candidates: [
      {
        content: { parts: [{ text: 'ab' }] },
        logprobsResult: {
          chosenCandidates: [{ token: 'a' }, { token: 'b' }],
          topCandidates: [{ candidates: [] }, { candidates: [] }],
          logProbabilitySum: -3,
        },
      },
    ],
  })
  const blocked = { promptFeedback: { blockReason: 'SAFETY' } }
  expect(collect('gemini', events(blocked))).toEqual(blocked)
})

test('an item that is open when a response is cut is incomplete', () => {
  const item = { type: 'function_call', status: 'in_progress', call_id: 'c', name: 'f', arguments: '' }
  const added = { type: 'response.output_item.added', output_index: 1, item }
  const done = { type: 'response.output_item.done', output_index: 0, item: { type: 'message', status: 'completed' } }
  const piece = { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a' }
  expect(collect('responses', events(done, added, piece))).toMatchObject({
    status: 'incomplete',
    output: [{ status: 'completed' }, { status: 'incomplete', arguments: '{"a' }],
  })
})

test('a message keeps future fields of the format', () => {
  const start = { type: 'message_start', message: { role: 'assistant', usage: { input_tokens: 1 } } }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } }
  const delta = (content: string): object => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'compaction_delta', content, places: [content.length] },
  })
  const end = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', container: { id: 'c' } },
    usage: { output_tokens: 2 },
    context_management: { applied_edits: [] },
  }
  expect(collect('messages', events(start, block, delta('ab'), delta('c'), end))).toEqual({
    role: 'assistant',
    content: [{ type: 'compaction', content: 'abc', places: [2, 1] }],
    container: { id: 'c' },
    context_management: { applied_edits: [] },
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 2 },
  })
})

test('a cut input is returned as text, never as the input of a whole call', () => {
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 'f', input: {} } }
  const piece = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":' } }
  expect(collect('messages', events(block, piece))).toMatchObject({ content: [{ input: '{"a":' }] })
})

test.each(Object.keys(collectors))('a reply of %s that was cut before its first word is valid', (dialect) => {
  const collector = collectorOf(dialect, '')
  collector.cutAtLength?.()
  const { choices = [], candidates = [], content, output } = JSON.parse(collector.text()) as Record<string, unknown[]>
  expect([...choices, ...candidates].length + Number(content !== undefined || output !== undefined)).toBe(1)
})

describe.each(Object.keys(collectors))('a stream of %s', (dialect) => {
  test.each(['tools', 'structured', 'length', 'refusal'])(
    '%s: the collected reply equals the vendor’s whole reply',
    (name) => {
      const file = join(SOURCES, dialect, name)
      const collected = collect(dialect, readFileSync(`${file}.sse`, 'utf8'))
      const whole = JSON.parse(readFileSync(`${file}.json`, 'utf8'), unsaid) as Record<string, unknown>
      expect(collected).toEqual(whole)
    },
  )
})

test.each([{}, 'x', 1, true, null])('citations that begin as %j become a list when one arrives', (citations) => {
  const block = { type: 'text', text: 'a', citations }
  const events = [
    { type: 'message_start', message: { id: 'm' } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { n: 1 } } },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`)
  expect(collect('messages', events.join(''))).toMatchObject({ content: [{ citations: [{ n: 1 }] }] })
})

test('no event of a vendor changes or reads the members that every object inherits', () => {
  const poison = '{"polluted":"yes"}'
  for (const name of ['"__proto__"', '"\\u005f_proto__"', '"_\\u005Fproto__"', '"__p\\u0072oto__"']) {
    const inside = `{${name}:${poison},"content":"a"}`
    const chunk = `{"id":"c",${name}:${poison},"choices":[{"index":0,${name}:${poison},"delta":${inside}}]}`
    expect(collect('chat', `data: ${chunk}\n\ndata: ${chunk}\n\n`)).toMatchObject({ id: 'c', choices: [{ index: 0 }] })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    for (const dialect of ['messages', 'gemini', 'responses']) collect(dialect, `data: ${chunk}\n\n`)
  }
  const own = '{"choices":[{"index":0,"delta":{"constructor":{"a":"b"},"toString":"x","content":"a"}}]}'
  const message = { constructor: { a: 'b' }, toString: 'x', content: 'a' }
  expect(collect('chat', `data: ${own}\n\n`)).toMatchObject({ choices: [{ message }] })
})

const many = (count: number, prefix = 'a'): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 1]))

test.each([
  [
    'chat',
    {
      choices: [
        { index: 0, delta: { tool_calls: Array.from({ length: 14_000 }, (_, index) => ({ index, id: 'x' })) } },
      ],
    },
  ],
  ['messages', { type: 'message_delta', delta: {}, usage: many(9_900) }],
])('one event of %s with very many names or indexes is read quickly', (dialect, event) => {
  const collector = collectors[dialect]?.()
  const before = process.threadCpuUsage()
  collector?.add({ name: undefined, data: JSON.stringify(event) })
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(100)
})

test.each([
  ['chat', (names: object) => names],
  ['messages', (delta: object) => ({ type: 'message_delta', delta })],
  ['messages', (usage: object) => ({ type: 'message_delta', usage })],
  ['gemini', (names: object) => names],
  ['gemini', (candidate: object) => ({ candidates: [candidate] })],
])('new names in every event of %s do not make each event slower', (dialect, event) => {
  const collector = collectors[dialect]?.()
  const events = Array.from({ length: 300 }, (_, i) => JSON.stringify(event(many(1_000, `e${i}_`))))
  const before = process.threadCpuUsage()
  for (const data of events) collector?.add({ name: undefined, data })
  // Reading alone takes 200 ms. Looking through all names again each time took 5 s.
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(1_500)
  expect(collector?.text().length).toBeLessThan(50_000)
})
