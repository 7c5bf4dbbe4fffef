import { expect, test } from 'bun:test'
import { exactBody } from './exact-body.ts'
import { withoutCallIds } from '../gemini/nameless-calls.ts'

const read = (text: string): Record<string, unknown> => exactBody(JSON.parse(text) as Record<string, unknown>, text)

test.each([
  '{"messages":[{"content":[{"type":"tool_use","input":{"a":1.0,"b":[12345678901234567890]}}]}]}',
  '{"tools":[{"function":{"parameters":{"properties":{"n":{"maximum":1e3}}}}}]}',
  '{"tools":[{"input_schema":{"default":1.0}}]}',
  '{"contents":[{"parts":[{"functionCall":{"args":{"a":1.0}}},{"functionResponse":{"response":{"b":-0}}}]}]}',
  '{"generation_config":{"response_json_schema":{"maximum":1.0}}}',
  '{"response_format":{"json_schema":{"schema":{"maximum":1.0}}}}',
])('a value that is only passed on in %s leaves unchanged', (text) => {
  expect(JSON.stringify(read(text))).toBe(text)
})

test('other numbers are parsed', () => {
  const text = '{"temperature":1.0,"max_tokens":1e3,"input":[{"n":2.0}],"tools":[{"parameters":{"x":1.0}}]}'
  const { temperature, max_tokens: limit, input } = read(text)
  expect([temperature, limit, input]).toEqual([1, 1000, [{ n: 2 }]])
})

test('a body without such numbers stays the same object', () => {
  const body = { a: 1.5, b: 'version 2' }
  expect(exactBody(body, JSON.stringify(body))).toBe(body)
})

test('a Gemini request that loses the ids of its calls keeps its numbers', () => {
  const text = '{"contents":[{"parts":[{"functionCall":{"id":"x","name":"f","args":{"id":12345678901234567890}}}]}]}'
  expect(withoutCallIds(text)).toBe(text.replace('"id":"x",', ''))
})
