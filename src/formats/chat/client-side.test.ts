import { expect, test } from 'bun:test'
import { chatClientSide } from './client-side.ts'

const facts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'm' }
const usage = { inputFresh: 1, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 1, outputReasoning: 0 }
const sealed = { origin: 'gemini', data: 'abc' } as const

test.each(['function', 'custom'] as const)('a call of a %s carries its signature, whole and streamed', (tool) => {
  const side = chatClientSide(false)
  const call = { id: 'call_1', name: 'f', tool, sealed }
  const parts = [{ kind: 'tool_call', ...call, arguments: '{}' }] as const
  const whole = side.reply({ choices: [{ parts, finish: 'tool_calls' }], usage }, facts, usage)
  expect(whole).toContain('"extra_content":{"google":{"thought_signature":"abc"}}')
  const stream = side.encoder(facts).encode([{ kind: 'call', choice: 0, call: 0, ...call }])
  expect(stream).toContain('"extra_content":{"google":{"thought_signature":"abc"}}')
})
