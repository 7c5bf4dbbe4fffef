import { expect, test } from 'bun:test'
import type { Message } from '../../domain/turn.ts'
import { lostOf } from './unsupported-fields.ts'

const conversation: Message[] = [
  { role: 'user', parts: [{ kind: 'text', text: 'x', cache: '5m' }] },
  { role: 'assistant', parts: [{ kind: 'reasoning', text: 'Hm.', sealed: { origin: 'gemini', data: 's' } }] },
  { role: 'tool', callId: 'c', parts: [], isError: true },
  { role: 'user', parts: [{ kind: 'image', source: { kind: 'url', url: 'https://x' }, detail: 'low' }] },
]

test('an unsupported part has a name, which is listed once', () => {
  expect(lostOf([...conversation, ...conversation], { dialect: 'chat' })).toEqual([
    'cache_control',
    'reasoning',
    'is_error',
    'detail',
  ])
})

test('a dialect’s own sealed reasoning and supported parts are not lost', () => {
  expect(lostOf(conversation, { dialect: 'gemini', toolErrors: 'said', detail: 'said' })).toEqual(['cache_control'])
})
