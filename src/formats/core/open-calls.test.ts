import { expect, test } from 'bun:test'
import type { Message, Turn } from '../../domain/turn.ts'
import { withAllResults } from './open-calls.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] })
const calling = (...ids: string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ kind: 'tool_call', id, name: 'f', arguments: '{}', tool: 'function' })),
})
const result = (callId: string): Message => ({ role: 'tool', callId, parts: [] })
const turn = (...messages: Message[]): Turn => ({ messages, tools: [], choices: 1, foreign: [] })
const shape = ({ messages }: Turn): string =>
  messages.map((message) => (message.role === 'tool' ? message.callId : message.role)).join(' ')

test('a turn whose results come after their calls stays the same object', () => {
  for (const whole of [turn(user('x')), turn(calling('a', 'b'), result('a'), result('b'), user('y'), result('z'))]) {
    expect(withAllResults(whole)).toBe(whole)
  }
})

test('results move after their calls in the order of the calls, and a result without a call stays', () => {
  const loose = turn(result('z'), calling('a', 'b'), user('wait'), result('b'), result('a'), user('y'))
  expect(shape(withAllResults(loose))).toBe('z assistant a b user user')
})

test('a call without a result gets one, in the order of the calls', () => {
  expect(shape(withAllResults(turn(user('x'), calling('a'), user('stop'))))).toBe('user assistant a user')
  expect(shape(withAllResults(turn(calling('a', 'b', 'c'), result('b'), user('stop'))))).toBe('assistant a b c user')
  expect(shape(withAllResults(turn(calling('a'), user('stop'), calling('b'))))).toBe('assistant a user assistant b')
})
