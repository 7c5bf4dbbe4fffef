import { expect, test } from 'bun:test'
import { withLawfulCalls } from './native-calls.ts'

const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
const output = (id: string, text: string) => ({ type: 'function_call_output', call_id: id, output: text })
const said = (items: readonly object[]): unknown[] =>
  items.map((item) => {
    const { call_id: id, output: text } = item as { call_id?: string; output?: string }
    return text === undefined ? id : [id, text.slice(0, 8)]
  })

test('repeated ids of a later turn become different ids, and results keep their calls', () => {
  const items = [
    call('a'),
    call('b'),
    output('b', '2'),
    output('a', '1'),
    call('a'),
    output('a', '3'),
    output('a', '4'),
  ]
  expect(said(withLawfulCalls(items))).toEqual(['a', 'b', ['b', '2'], ['a', '1'], 'a_2', ['a_2', '3'], ['a_2', '4']])
})

test('an interrupted call gets an output of its kind, and a broken call is removed', () => {
  const custom = { type: 'custom_tool_call', call_id: 'c', name: 'f', input: 'x' }
  const broken = { ...call('d'), status: 'incomplete' }
  const items = withLawfulCalls([call('a'), custom, broken, output('a', '1')])
  expect(said(items)).toEqual(['a', 'c', ['c', 'The call'], 'd', ['a', '1']])
  expect(items[2]).toMatchObject({ type: 'custom_tool_call_output' })
})

test('too long ids become shorter ones, the same for a call and its result', () => {
  const long = 'x'.repeat(80)
  const [one, other] = withLawfulCalls([call(long), output(long, '1')])
  expect(String(one?.['call_id']).length).toBeLessThanOrEqual(64)
  expect(other?.['call_id']).toBe(one?.['call_id'])
})
