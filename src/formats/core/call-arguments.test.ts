/** The arguments of tool calls between dialects. */
import { estimatedUsage } from './usage-estimate.ts'
import { describe, expect, test } from 'bun:test'
import type { Turn } from '../../domain/turn.ts'
import { dataEvent, SseDecoder } from '../../lib/http/sse.ts'
import { chatClientSide } from '../chat/client-side.ts'
import { chatUpstreamSide } from '../chat/upstream-side.ts'
import type { ClientSide, UpstreamSide, WriterQuirks } from './contract.ts'
import { geminiClientSide } from '../gemini/client-side.ts'
import { geminiUpstreamSide } from '../gemini/upstream-side.ts'
import { messagesClientSide } from '../messages/client-side.ts'
import { messagesUpstreamSide } from '../messages/upstream-side.ts'
import { translated } from './translated.ts'

const quirks: WriterQuirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' }
const facts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'public' }
const turn: Turn = { messages: [], tools: [], choices: 1, foreign: [] }
const clients: Readonly<Record<string, ClientSide>> = {
  chat: chatClientSide(false),
  messages: messagesClientSide({ inputTokens: 0, showThoughts: false }),
  gemini: geminiClientSide('hidden'),
}
const usage = estimatedUsage(1, 1)

const ARGUMENTS = '{"id":12345678901234567890,"at":1.0,"many":[1e3,-0]}'
const asText = JSON.stringify(ARGUMENTS)
const chatCall = `"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":${asText}}}]`
const geminiAnswer = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},"finishReason":"STOP"}]}`
const block = (input: string): string => `{"type":"tool_use","id":"c","name":"f","input":${input}}`
const answers: Readonly<Record<string, { side: UpstreamSide; whole: string; events: readonly string[] }>> = {
  chat: {
    side: chatUpstreamSide,
    whole: `{"choices":[{"message":{${chatCall}},"finish_reason":"tool_calls"}]}`,
    events: [`{"choices":[{"index":0,"delta":{${chatCall}},"finish_reason":"tool_calls"}]}`],
  },
  messages: {
    side: messagesUpstreamSide,
    whole: `{"content":[${block(ARGUMENTS)}],"stop_reason":"tool_use"}`,
    events: [
      `{"type":"content_block_start","index":0,"content_block":${block(ARGUMENTS)}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
    ],
  },
  gemini: { side: geminiUpstreamSide, whole: geminiAnswer, events: [geminiAnswer] },
}

describe.each(Object.keys(answers))('numbers in the arguments of a call by %s', (upstream) => {
  test.each(Object.keys(clients))('keep their source text for a client that speaks %s', async (client) => {
    const { side, whole, events } = answers[upstream] ?? expect.unreachable()
    const adapter = translated({ kind: 'turn', turn }, false, clients[client] ?? expect.unreachable(), side)
    const read = await adapter.readReply(whole, quirks)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    const stream = adapter.openStream(facts, quirks)
    let streamed = ''
    for (const event of new SseDecoder(10_000).push(Buffer.from(events.map(dataEvent).join('')))) {
      const came = stream.read(event)
      if (came.kind === 'chunk') streamed += came.text
    }
    for (const text of [read.reply.write(facts, usage), streamed + stream.end(usage)]) {
      expect(text.replaceAll('\\"', '"')).toContain(ARGUMENTS)
    }
  })
})

test.each([
  ['get_', 'weather', ''],
  ['get_weather', 'get_weather', 'get_weather'],
])('the name in the chunks %p %p %p is that of the tool', (...names) => {
  const decoder = chatUpstreamSide.decoder(quirks, turn)
  const calls = names.map((name, i) => ({ index: 0, id: 'c', function: { name, arguments: i === 2 ? '{}' : '' } }))
  const chunks = calls.map((call) => ({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }))
  const ended = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }
  const deltas = [...chunks, ended].flatMap((chunk) => {
    const decoded = decoder.decode({ data: JSON.stringify(chunk) } as never)
    return decoded.kind === 'deltas' ? decoded.deltas : []
  })
  expect(deltas).toEqual([
    { kind: 'call', choice: 0, call: 0, id: 'c', name: 'get_weather', tool: 'function' },
    { kind: 'arguments', choice: 0, call: 0, text: '{}' },
    { kind: 'finish', choice: 0, reason: 'tool_calls' },
  ])
})
