import { expect, test } from 'bun:test'
import { KIB } from '../lib/primitives/units.ts'
import { questionOf } from './cache-question.ts'

const text = (body: string): string | undefined => questionOf(body)?.text
const same = (...bodies: string[]): boolean => new Set(bodies.map(text)).size === 1

test('the order of names, white space and fields beside the question make no difference', () => {
  expect(
    same(
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0}',
      '{ "temperature": 0, "messages": [ { "content": "hi", "role": "user" } ], "model": "alias" }',
      '{"messages":[{"role":"user","content":"hi"}],"temperature":0,"stream":true,"stream_options":{"include_usage":true}}',
      '{"messages":[{"role":"user","content":"hi"}],"temperature":0,"user":"u","metadata":{"a":"b"},"store":false}',
    ),
  ).toBe(true)
})

test('everything else makes another question', () => {
  const bodies = [
    '{"messages":[{"role":"user","content":"hi"}]}',
    '{"messages":[{"role":"user","content":"hi "}]}',
    '{"messages":[{"role":"system","content":"hi"}]}',
    '{"messages":[{"role":"user","content":["hi"]}]}',
    '{"messages":[{"role":"user","content":"hi"}],"seed":9007199254740992}',
    '{"messages":[{"role":"user","content":"hi"}],"seed":9007199254740993}',
    '{"messages":[{"role":"user","content":"hi"}],"seed":"9007199254740993"}',
    '{"messages":[{"role":"user","content":"hi"}],"max_tokens":1}',
    '{"messages":[{"role":"user","content":"hi"}],"unknown":null}',
    '{"messages":[{"role":"user","content":"\\ud800"}]}',
    '{"messages":[{"role":"user","content":"\\ufffd"}]}',
    '{"response_format":{"properties":{"a":1,"b":2}}}',
    '{"response_format":{"properties":{"b":2,"a":1}}}',
    '{"a":{"b":1},"c":2}',
    '{"a":{"b":1,"c":2}}',
  ]
  expect(new Set(bodies.map(text)).size).toBe(bodies.length)
})

test('the temperature is found in every format, also if it is written oddly', () => {
  const at = (body: string): number | undefined => questionOf(body)?.temperature
  expect(at('{"temperature":0}')).toBe(0)
  expect(at('{"temperature":0.0}')).toBe(0)
  expect(at('{"temperature":0.7}')).toBe(0.7)
  expect(at('{"generationConfig":{"temperature":0}}')).toBe(0)
  expect(at('{"generation_config":{"temperature":1}}')).toBe(1)
  for (const body of ['{}', '{"temperature":null}', '{"temperature":"0"}', '{"temperature":false}']) {
    expect(at(body)).toBeUndefined()
  }
})

test('tools of the client and of the vendor are noticed', () => {
  const has = (body: string): boolean | undefined => questionOf(body)?.hasTools
  expect(has('{"tools":[]}')).toBe(false)
  expect(has('{"tools":null}')).toBe(false)
  for (const body of ['{"tools":[{}]}', '{"functions":[1]}', '{"web_search_options":{}}', '{"mcp_servers":[{}]}']) {
    expect([body, has(body)]).toEqual([body, true])
  }
})

test('what is no JSON object, or is too long, has no question', () => {
  for (const body of ['', 'x', '[]', '"a"', `{"a":"${'x'.repeat(128 * KIB)}"}`])
    expect(questionOf(body)).toBeUndefined()
})
