/** Vertex pairs calls and results by their order, and refuses ids (2026-11). */
import { expect, test } from 'bun:test'
import { withoutCallIds } from './nameless-calls.ts'

type Content = { role?: string; parts: object[] }
const call = (id: string, name: string, args: object = {}): object => ({ functionCall: { id, name, args } })
const result = (id: string | undefined, name: string, output: string): object => ({
  functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output } },
})
const told = (contents: Content[]): Content[] =>
  (JSON.parse(withoutCallIds(JSON.stringify({ contents }))) as { contents: Content[] }).contents
const outputs = (contents: Content[]): unknown[] =>
  contents.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const { functionResponse: one } = part as { functionResponse?: { id?: string; response: { output: string } } }
      return one ? [one.id === undefined ? one.response.output : 'an id'] : []
    }),
  )

test('results move to the order of their calls, and text between them stays', () => {
  const contents = told([
    { role: 'user', parts: [{ text: 'go' }] },
    { role: 'model', parts: [{ text: 'well' }, call('1', 'read'), call('2', 'read'), call('3', 'list')] },
    {
      role: 'user',
      parts: [result('3', 'list', 'c'), { text: 'words' }, result('2', 'read', 'b'), result('1', 'read', 'a')],
    },
    { role: 'model', parts: [call('1', 'read'), call('4', 'read')] },
    { role: 'user', parts: [result('4', 'read', 'e')] },
    { role: 'user', parts: [result('1', 'read', 'd')] },
  ])
  expect(outputs(contents)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(contents[2]?.parts[1]).toEqual({ text: 'words' })
  expect(JSON.stringify(contents)).not.toContain('"id"')
})

test('a result without an id belongs to the next call of its name, and one without a call comes last', () => {
  const contents = told([
    { role: 'model', parts: [call('1', 'a'), call('2', 'b'), call('3', 'a')] },
    {
      role: 'user',
      parts: [
        result('9', 'x', 'none'),
        result(undefined, 'a', 'third'),
        result('1', 'a', 'first'),
        result('2', 'b', 'second'),
      ],
    },
  ])
  expect(outputs(contents)).toEqual(['first', 'second', 'third', 'none'])
})

test('both spellings, single parts and unrelated ids are handled, and numbers keep their digits', () => {
  const text =
    '{"contents":[{"role":"model","parts":[{"function_call":{"id":"1","name":"f","args":{"id":12345678901234567890}}},' +
    '{"function_call":{"id":"2","name":"f"}}]},{"role":"function","parts":[{"function_response":{"id":"2","name":"f",' +
    '"response":{"id":1.0}}},{"function_response":{"id":"1","name":"f","response":{}}}]}]}'
  expect(withoutCallIds(text)).toBe(
    '{"contents":[{"role":"model","parts":[{"function_call":{"name":"f","args":{"id":12345678901234567890}}},' +
      '{"function_call":{"name":"f"}}]},{"role":"function","parts":[{"function_response":{"name":"f","response":{}}},' +
      '{"function_response":{"name":"f","response":{"id":1.0}}}]}]}',
  )
  const single = '{"contents":{"parts":{"functionResponse":{"id":"1","name":"f"}}}}'
  expect(withoutCallIds(single)).toBe('{"contents":[{"parts":[{"functionResponse":{"name":"f"}}]}]}')
})

test('a body without ids stays unchanged', () => {
  const text = '{ "contents": [{"parts": [{"functionResponse": {"name": "f"}}]}] }'
  expect(withoutCallIds(text)).toBe(text)
})
