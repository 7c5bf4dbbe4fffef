/** Servers that nearly follow the format: their answers as its clients get them, and as other dialects get them. */
import { estimatedUsage } from '../core/usage-estimate.ts'
import { describe, expect, test } from 'bun:test'
import type { Turn } from '../../domain/turn.ts'
import { namedEvent, SseDecoder } from '../../lib/http/sse.ts'
import { messagesUpstreamSide } from './upstream-side.ts'
import { readMessagesReply } from './reply.ts'
import { MessagesStream } from './stream.ts'
import { readMessagesRequest } from './request.ts'
import { lawfulEdits } from './lawful.ts'
import { messagesTurn } from './turn.ts'

const quirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' } as const
const facts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'm' }
const turn: Turn = { messages: [], tools: [], choices: 1, foreign: [] }

type Fields = Record<string, unknown>
const start = (usage: unknown): Fields => ({
  type: 'message_start',
  message: { id: 'msg', model: 'm', content: [], usage },
})
const block = (index: number, content_block: Fields): Fields[] => [
  { type: 'content_block_start', index, content_block },
  { type: 'content_block_stop', index },
]
const text = block(0, { type: 'text', text: 'Hi' })
const call = block(1, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} })
const ended = (stop_reason: unknown, usage: unknown = { output_tokens: 50 }): Fields => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
})
const stop: Fields = { type: 'message_stop' }
const usage = { input_tokens: 1000, output_tokens: 1 }

const streams: Readonly<Record<string, { events: Fields[]; reason: string; finish: string }>> = {
  'end_turn behind a call': { events: [...text, ...call, ended('end_turn')], reason: 'tool_use', finish: 'tool_calls' },
  'tool_use without a call': { events: [...text, ended('tool_use')], reason: 'end_turn', finish: 'stop' },
  'words of the chat format': {
    events: [...text, ...call, ended('tool_calls')],
    reason: 'tool_use',
    finish: 'tool_calls',
  },
  'a limit in words of the chat format': { events: [...text, ended('length')], reason: 'max_tokens', finish: 'length' },
  'an empty reason first': { events: [...text, ended(''), ended('end_turn')], reason: 'end_turn', finish: 'stop' },
  'zeros for the input at the end': {
    events: [...text, ended('end_turn', { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 50 })],
    reason: 'end_turn',
    finish: 'stop',
  },
  'zeros behind the end': {
    events: [...text, ended('end_turn'), ended('end_turn', { input_tokens: 0, output_tokens: 0 })],
    reason: 'end_turn',
    finish: 'stop',
  },
}

describe.each(Object.entries(streams))('a stream with %s', (_, { events, reason, finish }) => {
  const bytes = Buffer.from(
    [start(usage), ...events, stop].map((one) => namedEvent(String(one['type']), JSON.stringify(one))).join(''),
  )
  const came = new SseDecoder(100_000).push(bytes)

  test('reaches a client of the format in its exact form', () => {
    const stream = new MessagesStream(facts)
    let said = ''
    for (const event of came) {
      const read = stream.read(event)
      if (read.kind === 'chunk') said += read.text
    }
    expect(stream.usage).toMatchObject({ inputFresh: 1000, outputText: 50 })
    said += stream.end(stream.usage ?? estimatedUsage(1, 1))
    const reasons = [...said.matchAll(/"stop_reason":("[^"]*"|null)/g)].map(
      ([, one]) => JSON.parse(one ?? '') as unknown,
    )
    expect(reasons.at(-1)).toBe(reason)
    expect(reasons).not.toContain('')
  })

  test('means the same to clients of other formats', () => {
    const decoder = messagesUpstreamSide.decoder(quirks, turn)
    const deltas = came.flatMap((event) => {
      const decoded = decoder.decode(event)
      return decoded.kind === 'deltas' ? decoded.deltas : []
    })
    expect(deltas.filter(({ kind }) => kind === 'finish')).toMatchObject([{ reason: finish }])
    expect(decoder.usage).toMatchObject({ inputFresh: 1000, outputText: 50 })
  })
})

test('a stream without an end event gets one before its terminator', () => {
  const stream = new MessagesStream(facts)
  for (const one of [start(usage), ...call]) stream.read({ name: String(one['type']), data: JSON.stringify(one) })
  const end = stream.end(estimatedUsage(1000, 50))
  expect(end).toContain('"stop_reason":"tool_use"')
  expect(end.indexOf('message_delta')).toBeLessThan(end.indexOf('message_stop'))
})

test.each([
  ['null', '{}'],
  ['""', '{}'],
  ['"{\\"id\\":12345678901234567890}"', '{"id":12345678901234567890}'],
])('an input that is %s reaches a client of the format as %s', (input, expected) => {
  const content = `[{"type":"tool_use","id":"t","name":"f","input":${input}}]`
  const read = readMessagesReply(`{"model":"m","content":${content},"stop_reason":"end_turn"}`)
  if (read.kind === 'failed') throw new Error(read.failure.message)
  const written = read.reply.write(facts, estimatedUsage(1, 1))
  expect(written).toContain(`"input":${expected}`)
  expect(written).toContain('"stop_reason":"tool_use"')
})

test.each(['null', '""', '"{}"', undefined])('a history with the input %p can continue', (input) => {
  const given = input === undefined ? '' : `,"input":${input}`
  const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f"${given}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1"}]}]}`
  const read = readMessagesRequest(body, body.length, 'answer')
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  const { edits } = lawfulEdits(read.request, 'claude-opus-5')
  expect(edits.find(({ key }) => key === 'messages')?.value).toContain('"input":{}')
  const turned = messagesTurn(read.request.body)
  if (turned.kind === 'rejected') throw new Error(turned.failure.message)
  expect(turned.turn.messages[1]?.parts).toMatchObject([{ arguments: '{}' }])
})
