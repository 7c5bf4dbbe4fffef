import { expect, test } from 'bun:test'
import type { Message, Turn } from '../../domain/turn.ts'
import { CallIds, withCallIds } from './call-ids.ts'

const turnOf = (messages: readonly Message[]): Turn => ({ messages, tools: [], choices: 1, foreign: [] })
const calling = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ kind: 'tool_call', id, name: 'f', arguments: '{}', tool: 'function' })),
})
const result = (callId: string, text: string): Message => ({ role: 'tool', callId, parts: [{ kind: 'text', text }] })
const idsIn = ({ messages }: Turn): string[] =>
  messages.flatMap((message) =>
    message.role === 'tool'
      ? [message.callId]
      : message.parts.flatMap((part) => (part.kind === 'tool_call' ? [part.id] : [])),
  )

test('ids are lawful, differ if theirs did, and are the same in every turn', () => {
  const turn = turnOf([calling('a:0', 'a.0', 'fine-1'), result('a.0', '2'), result('fine-1', '3'), result('a:0', '1')])
  for (const dialect of ['chat', 'responses', 'messages', 'gemini'] as const) {
    const fitted = withCallIds(turn, dialect)
    const [first, second, third, ...results] = idsIn(fitted)
    expect(new Set([first, second, third]).size).toBe(3)
    expect(third).toBe('fine-1')
    for (const id of [first, second]) expect(id).toMatch(/^[\w-]{1,40}$/)
    expect(results).toEqual([first, second, 'fine-1'] as string[])
    expect(withCallIds(turn, dialect)).toEqual(fitted)
  }
})

test('a repeated id becomes another one, and each result belongs to its own call', () => {
  const turn = turnOf([
    calling('call_0'),
    result('call_0', '1'),
    calling('call_0', 'call_0'),
    result('call_0', '2'),
    result('call_0', '3'),
  ])
  expect(idsIn(withCallIds(turn, 'messages'))).toEqual([
    'call_0',
    'call_0',
    'call_0_2',
    'call_0_3',
    'call_0_2',
    'call_0_3',
  ])
})

test('thousands of calls with one id take no longer than thousands with different ids', () => {
  const ids = new CallIds('messages')
  const before = process.cpuUsage()
  ids.begin()
  for (let i = 0; i < 50_000; i++) ids.ofCall('x')
  const given = Array.from({ length: 50_000 }, () => ids.ofResult('x'))
  expect(new Set(given).size).toBe(50_000)
  withCallIds(turnOf([calling(...given), ...given.toReversed().map((id) => result(id, 'r'))]), 'chat')
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(5_000)
})
