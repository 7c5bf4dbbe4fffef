import { describe, expect, test } from 'bun:test'
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

test('values that a rule changes keep the digits of their numbers', () => {
  const text = said(',"arguments":{"at":1.0}').replace('"role":"user"', '"role":"developer"')
  const request = readChatRequest(text, 1_000)
  if (request.kind === 'rejected') throw new Error(request.failure.message)
  const rules = rulesFor('deepseek', 'deepseek-v4-pro')
  const to = { upstreamModel: 'm', outputTokensMax: undefined, quirks: { ...quirks, rules } }
  const { body } = new DirectChat(request.request).request(to)
  expect(body).toContain('"role":"system"')
  expect(body).toContain(`"arguments":${JSON.stringify('{"at":1.0}')}`)
})

describe('a conversation with models of other formats', () => {
  const user = { role: 'user', content: 'go' }
  const call = (id: string, rest: object = {}): object => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
    ...rest,
  })
  const calling = (...calls: object[]): object => ({ role: 'assistant', content: null, tool_calls: calls })
  const result = (id: string, content: string): object => ({ role: 'tool', tool_call_id: id, content })
  function told(messages: object[], model = 'some-model') {
    const text = JSON.stringify({ model: 'm', messages })
    const read = readChatRequest(text, text.length)
    if (read.kind === 'rejected') throw new Error(read.failure.message)
    const rules = rulesFor('custom', model)
    const to = { upstreamModel: 'm', outputTokensMax: undefined, quirks: { ...quirks, rules } }
    const { body, dropped } = new DirectChat(read.request).request(to)
    return { body, text, dropped, messages: (JSON.parse(body) as { messages: object[] }).messages }
  }

  test('goes up byte for byte if it is lawful', () => {
    const messages = [user, calling(call('functions.f:0'), call('b')), result('b', '2'), result('functions.f:0', '1')]
    expect(told([...messages, ...messages]).body).toBe(told([...messages, ...messages]).text)
  })

  test('loses their sealed data, except signatures that a model of Google must get back', () => {
    const sealed = { type: 'reasoning.sealed', text: 'hm', origin: 'messages', data: 'abc' }
    const signed = { extra_content: { google: { thought_signature: 'abc' } } }
    const own = { type: 'reasoning.text', text: 'own' }
    const messages = [
      user,
      { ...calling(call('a', signed)), reasoning_details: [sealed] },
      result('a', '1'),
      { role: 'assistant', content: 'x', reasoning_details: [own, sealed] },
      user,
    ]
    const plain = told(messages)
    expect(plain.body).not.toContain('abc')
    expect(plain.messages[1]).not.toHaveProperty('reasoning_details')
    expect(plain.messages[3]).toMatchObject({ reasoning_details: [own] })
    expect(plain.dropped).toEqual(['reasoning'])
    expect(told(messages, 'google/gemini-3-pro').messages[1]).toMatchObject({ tool_calls: [signed] })
  })

  test('has a result for each call, after the call', () => {
    const { messages } = told([user, calling(call('a'), call('b')), user, result('b', '2'), calling(call('a'))])
    const shape = messages.map((message) => {
      const { role, tool_call_id: id, content } = message as { role: string; tool_call_id?: string; content: string }
      return role === 'tool' ? `${id} ${content.slice(0, 8)}` : role
    })
    expect(shape).toEqual(['user', 'assistant', 'a The call', 'b 2', 'user', 'assistant', 'a The call'])
  })

  test('has unique ids within a message, of at most 40 characters', () => {
    const long = 'x'.repeat(60)
    const { messages } = told([
      user,
      calling(call('s'), call('s'), call(long)),
      result('s', '1'),
      result('s', '2'),
      result(long, '3'),
    ])
    const ids = [...JSON.stringify(messages[1]).matchAll(/"id":"([^"]*)"/g)].map(([, id = '']) => id)
    expect(new Set(ids).size).toBe(3)
    expect(Math.max(...ids.map(({ length }) => length))).toBeLessThanOrEqual(40)
    expect(messages.slice(2)).toMatchObject(ids.map((id, i) => ({ tool_call_id: id, content: String(i + 1) })))
  })
})

test('an empty answer is not sent back to a vendor of the format', () => {
  const text = JSON.stringify({
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: '', tool_calls: [], refusal: null },
      { role: 'user', content: 'y' },
      { role: 'assistant', content: '', reasoning_content: 'Hm.' },
      { role: 'user', content: '' },
    ],
  })
  const request = readChatRequest(text, 1_000)
  if (request.kind === 'rejected') throw new Error(request.failure.message)
  const { body } = new DirectChat(request.request).request({ upstreamModel: 'm', outputTokensMax: undefined, quirks })
  const { messages } = JSON.parse(body) as { messages: { content: string; reasoning_content?: string }[] }
  expect(messages.map(({ content, reasoning_content: thought = '' }) => content + thought)).toEqual([
    'x',
    'y',
    'Hm.',
    '',
  ])
})
