import { expect, test } from 'bun:test'
import { readChatRequest } from '../../../test/support/read-chat.ts'
import { rulesFor } from '../../vendors/fit.ts'
import { DirectChat } from './direct.ts'
import { chatTurn } from './turn.ts'
import { chatUpstreamSide } from './upstream-side.ts'

const quirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' } as const
const said = (words: string): string =>
  `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f"${words}}}]},{"role":"tool","tool_call_id":"call_1","content":"1"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","minProperties":1.0}}}]}`

test.each([
  ['', '{}'],
  [',"arguments":""', '{}'],
  [',"arguments":" \\n"', '{}'],
  [',"arguments":null', '{}'],
  [',"arguments":{}', '{}'],
  [',"arguments":{"id":12345678901234567890,"at":1.0}', '{"id":12345678901234567890,"at":1.0}'],
  [',"arguments":"{\\"at\\": 1.0}"', '{"at": 1.0}'],
])('a call in the history with %p goes to a vendor of the format with %p', (words, expected) => {
  const request = readChatRequest(said(words), 1_000)
  if (request.kind === 'rejected') throw new Error(request.failure.message)
  const to = { upstreamModel: 'm', outputTokensMax: undefined, quirks }
  const { body } = new DirectChat(request.request).request(to)
  expect(body).toContain(`"arguments":${JSON.stringify(expected)}`)
  expect(body).toContain('"minProperties":1.0')
  const read = chatTurn(request.request.body)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  expect(chatUpstreamSide.write(read.turn, false, to).body).toContain('"arguments":"{')
})

test('what a rule changes leaves with the numbers that it had', () => {
  const text = said(',"arguments":{"at":1.0}').replace('"role":"user"', '"role":"developer"')
  const request = readChatRequest(text, 1_000)
  if (request.kind === 'rejected') throw new Error(request.failure.message)
  const rules = rulesFor('deepseek', 'deepseek-v4-pro')
  const to = { upstreamModel: 'm', outputTokensMax: undefined, quirks: { ...quirks, rules } }
  const { body } = new DirectChat(request.request).request(to)
  expect(body).toContain('"role":"system"')
  expect(body).toContain(`"arguments":${JSON.stringify('{"at":1.0}')}`)
})
