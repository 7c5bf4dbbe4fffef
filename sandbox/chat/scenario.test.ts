import { expect, test } from 'bun:test'
import { sceneOf } from './scenario.ts'
import type { SandboxChatRequest, ChatMessage } from './request.ts'

const tools: SandboxChatRequest['tools'] = [{ type: 'function', function: { name: 'write', parameters: {} } }]
const script = 'Play this scenario:\ncall write {"path":"a.txt"}\nsay Done.'
const user = (content: string): ChatMessage => ({ role: 'user', content })
const called: ChatMessage[] = [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'write', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: 'ok' },
]
const request = (...messages: ChatMessage[]): SandboxChatRequest => ({ model: 'm', messages, tools })

test('each turn plays one line, and the last line repeats', () => {
  const calls = [{ type: 'function', name: 'write', input: '{"path":"a.txt"}' }] as const
  expect(sceneOf(request(user(script)))).toEqual({ kind: 'calls', calls })
  expect(sceneOf(request(user(script), ...called, user('A reminder.')))).toEqual({ kind: 'words', text: 'Done.' })
  expect(sceneOf(request(user(script), ...called, ...called))).toEqual({ kind: 'words', text: 'Done.' })
})

test('a tool that is not offered is not called; without tools nothing is played', () => {
  const missing = request(user('Play this scenario:\ncall read {}'))
  expect(sceneOf(missing)).toEqual({ kind: 'words', text: 'There is no tool read.' })
  expect(sceneOf({ ...request(user(script)), tools: undefined })).toBeUndefined()
  expect(sceneOf(request(user('Hello')))).toBeUndefined()
})
