/**
 * Servers that nearly follow the format: the meaning of their answers, streamed to each kind of client, and collected.
 */
import { estimatedUsage } from '../core/usage-estimate.ts'
import { describe, expect, test } from 'bun:test'
import { SseDecoder, dataEvent } from '../../lib/http/sse.ts'
import type { Turn } from '../../domain/turn.ts'
import { messagesClientSide } from '../messages/client-side.ts'
import { geminiClientSide } from '../gemini/client-side.ts'
import type { AdaptedStream, WriterQuirks } from '../core/contract.ts'
import { translated } from '../core/translated.ts'
import { BufferedReply } from '../core/buffered-reply.ts'
import { ChatCollector } from './collector.ts'
import { readChatReply } from './reply.ts'
import { ChatStream } from './stream.ts'
import { chatUpstreamSide } from './upstream-side.ts'

const quirks: WriterQuirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' }
const facts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'public' }
const turn: Turn = { messages: [], tools: [], choices: 1, foreign: [] }

/** Each reader knows the fields of the events that it reads. */
// oxlint-disable-next-line typescript/no-explicit-any
type Event = Record<string, any>
type Call = { name: string; arguments: string }
type SpokenAnswer = { text: string; thought: string; calls: Call[]; finish: string }

const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const calls = (...entries: object[]): object => chunk({ tool_calls: entries })
const fn = (name: string | null | undefined, words: unknown): object => ({ function: { name, arguments: words } })
const A = { name: 'a', arguments: '{"x":"{1}"}' }
const B = { name: 'b', arguments: '{"y":[2]}' }
const NONE = { name: 'a', arguments: '{}' }
const both = { text: '', thought: '', calls: [A, B], finish: 'tool_calls' }
const one = { ...both, calls: [A] }

const servers: Readonly<Record<string, { chunks: object[]; says: SpokenAnswer }>> = {
  'the format itself': {
    chunks: [
      calls({ index: 0, id: 'A', type: 'function', ...fn('a', '') }),
      calls({ index: 0, ...fn(undefined, '{"x":') }),
      calls({ index: 0, ...fn(undefined, '"{1}"}') }),
      calls({ index: 1, id: 'B', type: 'function', ...fn('b', B.arguments) }),
      chunk({}, 'tool_calls'),
    ],
    says: both,
  },
  'index 0 for every call': {
    chunks: [
      calls({ index: 0, id: 'A', type: 'function', ...fn('a', A.arguments) }),
      calls({ index: 0, id: 'B', type: 'function', ...fn('b', B.arguments) }),
      chunk({}, 'stop'),
    ],
    says: both,
  },
  'index 0 for every call, in pieces that name their id': {
    chunks: [
      calls({ index: 0, id: 'A', ...fn('a', '{"x":') }),
      calls({ index: 0, id: 'B', ...fn('b', '{"y":') }),
      calls({ index: 0, id: 'A', ...fn('', '"{1}"}') }),
      calls({ index: 0, id: 'B', ...fn('', '[2]}') }),
      chunk({}, ''),
      chunk({}, 'stop'),
    ],
    says: both,
  },
  'index 0 for every call, and no ids': {
    chunks: [
      calls({ index: 0, ...fn('a', '{"x":') }),
      calls({ index: 0, ...fn(null, '"{1}"}') }),
      calls({ index: 0, ...fn('b', B.arguments) }),
      chunk({}, 'tool_calls'),
    ],
    says: both,
  },
  'no indexes': {
    chunks: [
      calls({ id: 'A', ...fn('a', '{"x":') }),
      calls({ id: '', ...fn('', '"{1}"}') }),
      calls({ id: 'B', ...fn('b', B.arguments) }),
      chunk({}, 'tool_calls'),
    ],
    says: both,
  },
  'no indexes and no ids, all in one': {
    chunks: [calls(fn('a', A.arguments), fn('b', B.arguments)), chunk({}, 'stop')],
    says: both,
  },
  'no indexes and no ids, one after the other': {
    chunks: [calls(fn('a', A.arguments)), calls(fn('b', B.arguments)), chunk({}, 'stop')],
    says: both,
  },
  'another id in each chunk': {
    chunks: [
      calls({ index: 0, id: 'r1', ...fn('a', '') }),
      calls({ index: 0, id: 'r2', ...fn(null, '{"x":') }),
      calls({ index: 0, id: 'r3', ...fn(null, '"{1}"}') }),
      calls({ index: 1, id: 'r4', ...fn('b', '') }),
      calls({ index: 1, id: 'r5', ...fn(null, B.arguments) }),
      chunk({}, 'tool_calls'),
    ],
    says: both,
  },
  'the whole name in each chunk': {
    chunks: [
      calls({ index: 0, id: 'A', ...fn('a', '{"x":') }),
      calls({ index: 0, id: 'A', ...fn('a', '"{1}"}') }),
      chunk({}, 'tool_calls'),
    ],
    says: one,
  },
  'one id for all calls': {
    chunks: [
      calls({ index: 0, id: 'call', ...fn('a', A.arguments) }),
      calls({ index: 1, id: 'call', ...fn('b', B.arguments) }),
      chunk({}, 'tool_calls'),
    ],
    says: both,
  },
  'indexes from 1, as text': {
    chunks: [
      calls({ index: '1', id: 'A', ...fn('a', A.arguments) }),
      calls({ index: '2', id: 'B', ...fn('b', B.arguments) }),
      chunk({}, 'tool_calls'),
    ],
    says: both,
  },
  'the arguments of both calls in turn': {
    chunks: [
      calls({ index: 0, id: 'A', ...fn('a', '') }, { index: 1, id: 'B', ...fn('b', '') }),
      calls({ index: 1, ...fn(undefined, '{"y":') }),
      calls({ index: 0, ...fn(undefined, '{"x":') }),
      calls({ index: 1, ...fn(undefined, '[2]}') }),
      calls({ index: 0, ...fn(undefined, '"{1}"}') }),
      chunk({}, 'tool_calls'),
    ],
    says: both,
  },
  'arguments as an object': {
    chunks: [calls({ index: 0, id: 'A', ...fn('a', { x: '{1}' }) }), chunk({}, 'tool_calls')],
    says: one,
  },
  'arguments that are null, missing and empty': {
    chunks: [
      calls({ index: 0, id: 'A', ...fn('a', null) }),
      calls({ index: 1, id: 'B', function: { name: 'a' } }),
      calls({ index: 2, id: 'C', ...fn('a', '') }),
      chunk({}, 'tool_calls'),
    ],
    says: { ...both, calls: [NONE, NONE, NONE] },
  },
  'the function call of the first version': {
    chunks: [
      chunk({ function_call: { name: 'a', arguments: '' } }),
      chunk({ function_call: { arguments: A.arguments } }),
      chunk({}, 'function_call'),
    ],
    says: one,
  },
  'words behind a call': {
    chunks: [
      calls({ index: 0, id: 'A', ...fn('a', '{"x":') }),
      chunk({ content: 'ok' }),
      calls({ index: 0, ...fn(null, '"{1}"}') }),
      chunk({}, 'stop'),
    ],
    says: { ...one, text: 'ok' },
  },
  'content as a list': {
    chunks: [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
      chunk({
        content: [
          { type: 'thinking', thinking: 'm.' },
          { type: 'text', text: 'He' },
        ],
      }),
      chunk({ content: 'llo' }),
      chunk({ content: [] }, 'stop'),
    ],
    says: { text: 'Hello', thought: 'Hmm.', calls: [], finish: 'stop' },
  },
  'thoughts in two fields': {
    chunks: [
      chunk({ reasoning: 'Hm', reasoning_content: 'Hm' }),
      chunk({ reasoning: '.', reasoning_content: '' }),
      chunk({ content: 'Hello', reasoning: null, reasoning_content: null }),
      chunk({}, 'end_turn'),
    ],
    says: { text: 'Hello', thought: 'Hm.', calls: [], finish: 'stop' },
  },
  'calls that are said and not there': {
    chunks: [chunk({ content: 'Hello' }), chunk({}, 'tool_calls')],
    says: { text: 'Hello', thought: '', calls: [], finish: 'stop' },
  },
  'a finish reason in each chunk': {
    chunks: [chunk({ content: 'He' }, 'stop'), chunk({ content: 'llo' }, 'stop')],
    says: { text: 'Hello', thought: '', calls: [], finish: 'stop' },
  },
  'thoughts in a list of their own': {
    chunks: [
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }] }),
      chunk({ content: 'Hello' }, 'stop'),
    ],
    says: { text: 'Hello', thought: 'Hm.', calls: [], finish: 'stop' },
  },
  'no finish reason': {
    chunks: [calls({ index: 0, id: 'A', ...fn('a', A.arguments) }, {})],
    says: one,
  },
  'an end at the limit': {
    chunks: [chunk({ content: 'Hello' }, 'max_tokens')],
    says: { text: 'Hello', thought: '', calls: [], finish: 'length' },
  },
}

function streamed(chunks: readonly object[], stream: AdaptedStream): Event[] {
  const bytes = Buffer.from([...chunks.map((one) => JSON.stringify(one)), '[DONE]'].map(dataEvent).join(''))
  let text = ''
  for (const event of new SseDecoder(100_000).push(bytes)) {
    const read = stream.read(event)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    if (read.kind === 'chunk') text += read.text
  }
  text += stream.end(estimatedUsage(1, 1))
  return new SseDecoder(100_000)
    .push(Buffer.from(text))
    .flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
}

/** Joins chunks as the vendor's SDKs do: by index, with the last id that came. */
function bySdk(events: readonly Event[]): SpokenAnswer {
  const said: SpokenAnswer = { text: '', thought: '', calls: [], finish: '' }
  const ids: string[] = []
  for (const { choices } of events) {
    for (const { delta, finish_reason: finish } of choices as Event[]) {
      said.text += delta.content ?? ''
      said.thought += delta.reasoning_content || (delta.reasoning ?? '')
      for (const call of (delta.tool_calls ?? []) as Event[]) {
        const known = (said.calls[call['index']] ??= { name: '', arguments: '' })
        known.name += call['function']?.name ?? ''
        known.arguments += call['function']?.arguments ?? ''
        if (call['id'] !== undefined) ids[call['index']] = call['id']
      }
      if (finish) said.finish = finish
    }
  }
  expect(new Set(ids).size).toBe(said.calls.length)
  return said
}

/** Joins events as clients of Messages do: one block at a time, and nothing after its end. */
function byBlocks(events: readonly Event[]): SpokenAnswer {
  const said: SpokenAnswer = { text: '', thought: '', calls: [], finish: '' }
  let open: number | undefined
  for (const event of events) {
    if (event['type'] === 'content_block_start') {
      expect(open).toBeUndefined()
      open = event['index']
      const block = event['content_block']
      if (block.type === 'tool_use') said.calls.push({ name: block.name, arguments: '' })
    } else if (event['type'] === 'content_block_stop') {
      expect(event['index']).toBe(open)
      open = undefined
    } else if (event['type'] === 'content_block_delta') {
      expect(event['index']).toBe(open)
      const { text = '', thinking = '', partial_json: json = '' } = event['delta']
      said.text += text
      said.thought += thinking
      const call = said.calls.at(-1)
      if (json !== '' && call) call.arguments += json
    } else if (event['type'] === 'message_delta') said.finish = event['delta'].stop_reason
  }
  return said
}

const stopReasons: Readonly<Record<string, string>> = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens' }

describe.each(Object.entries(servers))('%s', (name, { chunks, says }) => {
  test('for a client of the format', () => {
    const stream = new ChatStream({ publicModel: 'public', choices: 1, usageAsked: false, usageDialect: 'inclusive' })
    // A client of the format knows that call.
    if (name.includes('first version')) return
    // Some vendors list thoughts separately. Their own clients get that list unchanged.
    const thought = name === 'thoughts in a list of their own' ? '' : says.thought
    expect(bySdk(streamed(chunks, stream))).toEqual({ ...says, thought })
  })

  test('for a client of Messages', () => {
    const side = messagesClientSide({ inputTokens: 0, showThoughts: true })
    const stream = translated({ kind: 'turn', turn }, true, side, chatUpstreamSide).openStream(facts, quirks)
    expect(byBlocks(streamed(chunks, stream))).toEqual({ ...says, finish: stopReasons[says.finish] as string })
  })

  test('for a client of Gemini', () => {
    const stream = translated({ kind: 'turn', turn }, true, geminiClientSide('shown'), chatUpstreamSide).openStream(
      facts,
      quirks,
    )
    const parts = streamed(chunks, stream).flatMap((event) => event['candidates'][0].content.parts as Event[])
    const came = parts.flatMap(({ functionCall: call }) =>
      call ? [{ name: call.name, arguments: JSON.stringify(call.args) }] : [],
    )
    expect(came).toEqual(says.calls)
  })

  test('collected into one reply', () => {
    const collector = new ChatCollector()
    for (const one of chunks) collector.add({ name: undefined, data: JSON.stringify(one) })
    const read = chatUpstreamSide.readReply(collector.text(), quirks, turn)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    const [choice] = read.reply.choices
    const words = (kind: 'text' | 'reasoning'): string =>
      choice?.parts.map((part) => (part.kind === kind ? part.text : '')).join('') ?? ''
    expect({
      text: words('text'),
      thought: words('reasoning'),
      calls: choice?.parts.flatMap((part) =>
        part.kind === 'tool_call' ? [{ name: part.name, arguments: part.arguments }] : [],
      ),
      finish: choice?.finish,
    } as SpokenAnswer).toEqual(says)
  })
})

test.each(['error', 'insufficient_system_resource', 'network_error', 'abort'])(
  'an end with %p is a failure',
  (reason) => {
    const data = JSON.stringify(chunk({ content: 'Half' }, reason))
    const stream = new ChatStream({ publicModel: 'public', choices: 1, usageAsked: false, usageDialect: 'inclusive' })
    const failed = { kind: 'failed', failure: { kind: 'server', code: reason } }
    expect(stream.read({ name: undefined, data })).toMatchObject(failed)
    expect(chatUpstreamSide.decoder(quirks, turn).decode({ name: undefined, data })).toMatchObject(failed)
    const reply = JSON.stringify({ choices: [{ index: 0, message: { content: 'Half' }, finish_reason: reason }] })
    expect(chatUpstreamSide.readReply(reply, quirks, turn)).toMatchObject(failed)
  },
)

const wholes: Readonly<Record<string, { message: object; says: object; finish: string }>> = {
  'arguments as an object': {
    message: { content: null, tool_calls: [{ id: 'A', type: 'function', ...fn('a', { x: 1 }) }] },
    says: { content: null, tool_calls: [{ id: 'A', type: 'function', ...fn('a', '{"x":1}') }] },
    finish: 'tool_calls',
  },
  'arguments that are missing, and no type': {
    message: { content: null, tool_calls: [{ id: 'A', function: { name: 'a' } }] },
    says: { tool_calls: [{ id: 'A', type: 'function', ...fn('a', '{}') }] },
    finish: 'tool_calls',
  },
  'content as a list': {
    message: {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Hi' },
      ],
    },
    says: { content: 'Hi', reasoning_content: 'Hm.' },
    finish: 'stop',
  },
  'calls that are said and not there': { message: { content: 'Hi' }, says: { content: 'Hi' }, finish: 'stop' },
}

test.each(Object.entries(wholes))(
  'a whole reply with %s reaches a client of the format in its exact form',
  (_, one) => {
    const { message, says, finish } = one
    const given = JSON.stringify({
      model: 'up',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: null,
    })
    const read = readChatReply(new BufferedReply(given), 'inclusive')
    if (read.kind === 'failed') throw new Error(read.failure.message)
    const { model, choices } = JSON.parse(read.reply.write(facts, estimatedUsage(1, 1))) as Event
    expect(model).toBe('public')
    expect(choices).toMatchObject([{ index: 0, message: says, finish_reason: finish }])
  },
)
