/** Servers that nearly follow the responses format, and what their streams mean. */
import { estimatedUsage } from '../core/usage-estimate.ts'
import { describe, expect, test } from 'bun:test'
import type { Turn } from '../../domain/turn.ts'
import { dataEvent, SseDecoder } from '../../lib/http/sse.ts'
import { chatClientSide } from '../chat/client-side.ts'
import type { WriterQuirks } from '../core/contract.ts'
import { translated } from '../core/translated.ts'
import { chatUpstreamSide } from '../chat/upstream-side.ts'
import { responsesUpstreamSideWith } from './upstream-side.ts'

const responsesUpstreamSide = responsesUpstreamSideWith(chatUpstreamSide)

const quirks: WriterQuirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' }
const facts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'public' }
const turn: Turn = { messages: [], tools: [], choices: 1, foreign: [] }

type Fields = Record<string, unknown>
const call = (id: string, args: unknown, itemId = `fc_${id}`): Fields => ({
  type: 'function_call',
  id: itemId,
  call_id: id,
  name: id,
  arguments: args,
})
const added = (output_index: number, item: Fields): Fields => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (output_index: number, item: Fields): Fields => ({ type: 'response.output_item.done', output_index, item })
const piece = (output_index: number, item_id: string, delta: string): Fields => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  item_id,
  delta,
})
const completed = (output: readonly Fields[] = []): Fields => ({
  type: 'response.completed',
  response: { status: 'completed', output, usage: { input_tokens: 7, output_tokens: 9 } },
})

const A = { name: 'a', arguments: '{"x":1}' }
const B = { name: 'b', arguments: '{"y":2}' }

const servers: Readonly<Record<string, { events: Fields[]; calls: object[]; text?: string }>> = {
  'the format itself': {
    events: [
      added(0, call('a', '')),
      piece(0, 'fc_a', '{"x":'),
      piece(0, 'fc_a', '1}'),
      done(0, call('a', A.arguments)),
      added(1, call('b', '')),
      piece(1, 'fc_b', B.arguments),
      done(1, call('b', B.arguments)),
      completed(),
    ],
    calls: [A, B],
  },
  'output index 0 for every call': {
    events: [
      added(0, call('a', '')),
      piece(0, 'fc_a', A.arguments),
      done(0, call('a', A.arguments)),
      added(0, call('b', '')),
      piece(0, 'fc_b', B.arguments),
      done(0, call('b', B.arguments)),
      completed(),
    ],
    calls: [A, B],
  },
  'another id for an item in each event': {
    events: [
      added(0, call('a', '', 'r1')),
      piece(0, 'r2', A.arguments),
      done(0, call('a', A.arguments, 'r3')),
      added(1, call('b', '', 'r4')),
      piece(1, 'r5', B.arguments),
      done(1, call('b', B.arguments, 'r6')),
      completed(),
    ],
    calls: [A, B],
  },
  'arguments at the end of a call alone': {
    events: [
      added(0, call('a', '')),
      { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc_a', arguments: A.arguments },
      done(0, call('a', A.arguments)),
      completed(),
    ],
    calls: [A],
  },
  'whole items': {
    events: [done(0, call('a', A.arguments)), done(1, call('b', { y: 2 })), completed()],
    calls: [A, B],
  },
  'calls without arguments': {
    events: [added(0, call('a', '')), done(0, call('a', '')), done(1, call('b', undefined)), completed()],
    calls: [
      { name: 'a', arguments: '{}' },
      { name: 'b', arguments: '{}' },
    ],
  },
  'nothing but the end': {
    events: [
      completed([
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
        call('a', A.arguments),
      ]),
    ],
    calls: [A],
    text: 'Hello',
  },
  'a message that came whole': {
    events: [
      done(0, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }),
      completed([{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }]),
    ],
    calls: [],
    text: 'Hello',
  },
}

describe.each(Object.entries(servers))('%s', (_, { events, calls, text = '' }) => {
  test('for a client of chat', () => {
    const adapter = translated({ kind: 'turn', turn }, true, chatClientSide(false), responsesUpstreamSide)
    const stream = adapter.openStream(facts, quirks)
    let said = ''
    for (const event of new SseDecoder(100_000).push(
      Buffer.from(
        events
          .map((one) => JSON.stringify(one))
          .map(dataEvent)
          .join(''),
      ),
    )) {
      const read = stream.read(event)
      if (read.kind === 'chunk') said += read.text
    }
    expect(stream.finished).toBe(true)
    expect(stream.usage).toMatchObject({ inputFresh: 7, outputText: 9 })
    said += stream.end(estimatedUsage(7, 9))
    const came: { name: string; arguments: string }[] = []
    let words = ''
    let finish = ''
    for (const { data } of new SseDecoder(100_000).push(Buffer.from(said))) {
      if (data === '[DONE]') continue
      const [choice] = JSON.parse(data).choices
      words += choice.delta.content ?? ''
      finish = choice.finish_reason ?? finish
      for (const { index, function: fn } of choice.delta.tool_calls ?? []) {
        const known = (came[index] ??= { name: '', arguments: '' })
        known.name += fn.name ?? ''
        known.arguments += fn.arguments ?? ''
      }
    }
    expect({ calls: came, text: words, finish }).toEqual({
      calls: calls as typeof came,
      text,
      finish: calls.length > 0 ? 'tool_calls' : 'stop',
    })
  })
})
