import { describe, expect, test } from 'bun:test'
import { fit, isForResponses, rulesFor } from './fit.ts'
import { vendorRules } from './rules.ts'

const fitted = (vendor: string, model: string, body: Record<string, unknown>): Record<string, unknown> => {
  const { changes, dropped } = fit(body, rulesFor(vendor, model))
  const after = JSON.parse(JSON.stringify({ ...body, ...changes })) as Record<string, unknown>
  return { ...after, ...(dropped.length > 0 ? { dropped } : {}) }
}

test('every rule says where it can be read, and when it was', () => {
  for (const { source, read } of vendorRules) {
    expect(source).toMatch(/^https:\/\/\S+/)
    expect(read).toMatch(/^\d{4}-\d\d-\d\d$/)
  }
})

describe('of a request', () => {
  const user = 'u'.repeat(150)

  test.each([
    ['openai', 'gpt-4.1', 64],
    ['azure', 'deployment', 64],
    ['openrouter', 'x/y', 128],
    ['custom', 'glm-5', 128],
    ['ark', 'ep-1', 128],
  ])('a user too long for %s is sent as a digest, the same each time', (vendor, model, most) => {
    const { user: sent } = fitted(vendor, model, { user }) as { user: string }
    expect(sent.length).toBeLessThanOrEqual(most)
    expect(fitted(vendor, model, { user })).toEqual({ user: sent })
    expect(fitted(vendor, model, { user: `${user}x` })).not.toEqual({ user: sent })
    expect(fitted(vendor, model, { user: 'user-1' })).toEqual({ user: 'user-1' })
  })

  test('a user too short, or with other characters, is one as well', () => {
    expect((fitted('custom', 'glm-5', { user: 'u1' }) as { user: string }).user).toHaveLength(43)
    expect((fitted('deepseek', 'deepseek-v4-pro', { user: '{"a":1}' }) as { user: string }).user).toMatch(/^[\w-]{43}$/)
  })

  test.each([
    ['openai', 'gpt-5', { temperature: 0.2, top_p: 0.9, stop: ['a'] }, { dropped: ['temperature', 'top_p', 'stop'] }],
    ['openai', 'gpt-5', { temperature: 1, presence_penalty: 0, stop: null }, {}],
    [
      'openai',
      'gpt-5.2',
      { temperature: 0.2, reasoning_effort: 'none' },
      { temperature: 0.2, reasoning_effort: 'none' },
    ],
    ['openai', 'gpt-5.2', { temperature: 0.2 }, { temperature: 0.2 }],
    [
      'openai',
      'gpt-5.2',
      { temperature: 0.2, reasoning_effort: 'low' },
      { reasoning_effort: 'low', dropped: ['temperature'] },
    ],
    ['openai', 'gpt-5.6-sol', { temperature: 0.2 }, { dropped: ['temperature'] }],
    ['openai', 'gpt-5-chat-latest', { temperature: 0.2 }, { temperature: 0.2 }],
    [
      'openai',
      'gpt-4.1',
      { reasoning_effort: 'high', temperature: 0.2 },
      { temperature: 0.2, dropped: ['reasoning_effort'] },
    ],
    ['openai', 'gpt-4.1', { stop: ['1', '2', '3', '4', '5'] }, { stop: ['1', '2', '3', '4'], dropped: ['stop[4]'] }],
    ['openai', 'gpt-4.1', { top_k: 4 }, { dropped: ['top_k'] }],
    ['openai', 'o3', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'high' }],
    ['openai', 'gpt-5.1', { reasoning_effort: 'minimal' }, { reasoning_effort: 'low' }],
    [
      'openai',
      'gpt-5',
      { reasoning: { effort: 'none', summary: 'auto' } },
      { reasoning: { effort: 'minimal', summary: 'auto' } },
    ],
    ['openai', 'gpt-9', { reasoning_effort: 'max' }, { reasoning_effort: 'max' }],
    ['openrouter', 'openai/gpt-5', { top_k: 4, temperature: 0.2 }, { top_k: 4, dropped: ['temperature'] }],
    ['mistral', 'mistral-large', { seed: 7, top_k: 1 }, { random_seed: 7, dropped: ['top_k'] }],
    [
      'mistral',
      'mistral-large',
      { reasoning_effort: 'low', temperature: 2 },
      { reasoning_effort: 'high', temperature: 1.5 },
    ],
    ['mistral', 'mistral-large', { stream_options: { include_usage: true }, store: false }, {}],
    ['deepseek', 'deepseek-v4-pro', { reasoning_effort: 'medium' }, { reasoning_effort: 'high' }],
    ['xai', 'grok-4', { reasoning_effort: 'high', stop: ['x'] }, { dropped: ['stop', 'reasoning_effort'] }],
    ['custom', 'any', { top_k: 4, foo: 1 }, { top_k: 4, foo: 1 }],
  ])('%s, %s: %j becomes %j', (vendor, model, body, after) => {
    expect(fitted(vendor, model, body)).toEqual(after)
  })

  test('a schema for the answer is said in words where only JSON is known', () => {
    const format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } }
    const messages = [{ role: 'user', content: 'hi' }]
    const after = fitted('deepseek', 'deepseek-chat', { messages, response_format: format })
    expect(after).toMatchObject({ response_format: { type: 'json_object' }, dropped: ['response_format.json_schema'] })
    expect(JSON.stringify(after['messages'])).toContain('{\\"type\\":\\"object\\"}')
  })
})

describe('of messages', () => {
  const call = (id: string): object => ({ id, type: 'function', function: { name: 'f', arguments: '{"n":1e3}' } })

  test('what a developer says is said by the system, but for the vendors that know developers', () => {
    const messages = [
      { role: 'developer', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ]
    expect(fitted('deepseek', 'x', { messages })['messages']).toMatchObject([
      { role: 'system', content: 'be brief' },
      {},
    ])
    expect(fitted('custom', 'x', { messages })['messages']).toMatchObject([{ role: 'system' }, {}])
    expect(fit({ messages }, rulesFor('openai', 'gpt-5')).changes).toEqual({})
    expect(fit({ messages: messages.slice(1) }, rulesFor('custom', 'x')).changes).toEqual({})
    expect(fit({ input: ['odd', ...messages] }, rulesFor('custom', 'x')).changes['input']).toEqual([
      'odd',
      { role: 'system', content: 'be brief' },
      messages[1],
    ])
  })

  test('ids of calls are nine letters and digits for Mistral, and match their results', () => {
    const messages = [
      { role: 'assistant', content: null, tool_calls: [call('call_a'), call('abcdefghi')] },
      { role: 'tool', tool_call_id: 'call_a', content: '1' },
      { role: 'tool', tool_call_id: 'abcdefghi', content: '2' },
    ]
    type HttpAnswer = { readonly tool_calls: readonly { readonly id: string }[]; readonly tool_call_id: string }
    const [said, one, two] = fitted('mistral', 'm', { messages })['messages'] as readonly HttpAnswer[]
    const [first, second] = said?.tool_calls ?? []
    expect(first?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect([one?.tool_call_id, two?.tool_call_id]).toEqual([first?.id ?? '', 'abcdefghi'])
    expect(second?.id).toBe('abcdefghi')
  })
})

test('tools of a model that reasons go where both are taken, or go without reasoning', () => {
  const those = rulesFor('openai', 'gpt-5.6-sol')
  expect(isForResponses(those, { hasTools: true, isTranslated: false })).toBe(true)
  expect(isForResponses(those, { hasTools: false, isTranslated: false })).toBe(false)
  expect(isForResponses(those, { hasTools: false, isTranslated: true })).toBe(true)
  expect(isForResponses(rulesFor('openai', 'gpt-4.1'), { hasTools: true, isTranslated: true })).toBe(false)
  const body = { messages: [], tools: [{}] }
  expect(fitted('azure', 'gpt-5.6', body)).toMatchObject({ reasoning_effort: 'none' })
  expect(fitted('azure', 'gpt-5.6', { ...body, reasoning_effort: 'high' })['dropped']).toEqual(['reasoning_effort'])
  expect(fitted('openai', 'gpt-5.6', { input: [], tools: [{}] })).toEqual({ input: [], tools: [{}] })
})

test('what a model reasons is fitted before what it then does not take', () => {
  const { changes, dropped } = fit({ reasoning_effort: 'none', temperature: 0.2 }, rulesFor('openai', 'o3'))
  expect({ changes, dropped }).toEqual({
    changes: { reasoning_effort: 'low', temperature: undefined },
    dropped: ['temperature'],
  })
})

test('a schema that is none of an object is said in words where only objects are taken, in both formats', () => {
  const those = rulesFor('openai', 'gpt-4.1')
  const list = { type: 'array', items: { type: 'string' } }
  const chat = fit(
    {
      messages: [{ role: 'user', content: 'Go' }],
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: list } },
    },
    those,
  )
  expect(chat.dropped).toEqual(['response_format.json_schema'])
  expect(chat.changes['response_format']).toBeUndefined()
  expect(JSON.stringify(chat.changes['messages'])).toContain('JSON schema')
  const text = { format: { type: 'json_schema', name: 'answer', schema: list }, verbosity: 'low' }
  const responses = fit({ input: 'Go', text }, those)
  expect(responses.changes).toMatchObject({ text: { verbosity: 'low' } })
  expect(responses.changes['text']).not.toHaveProperty('format')
  expect(responses.changes['input']).toHaveLength(2)
  const object = { type: 'json_schema', name: 'answer', schema: { type: 'object', properties: {} } }
  expect(fit({ input: 'Go', text: { format: object } }, those)).toMatchObject({ changes: {}, dropped: [] })
  expect(fit({ input: 'Go', text: { format: { type: 'text' } } }, those).dropped).toEqual([])
  expect(fit({ messages: [], response_format: { type: 'json_object' } }, those).dropped).toEqual([])
})

describe('messages', () => {
  const user = (content: unknown) => ({ role: 'user', content })
  const model = (content: unknown) => ({ role: 'assistant', content })
  const call = { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] }
  const result = { role: 'tool', tool_call_id: 'a', content: 'r' }
  const system = (content: string) => ({ role: 'system', content })
  const messagesAt = (vendor: string, messages: readonly object[]): unknown =>
    fitted(vendor, 'some-model', { messages })['messages']

  test('text is one text where the vendor takes no list of it, and pictures stay', () => {
    const picture = { type: 'image_url', image_url: { url: 'data:,' } }
    const text = (words: string) => ({ type: 'text', text: words })
    expect(messagesAt('cloudflare', [user([text('a'), text('b')]), call, { role: 'assistant' }])).toEqual([
      user('a\n\nb'),
      { ...call, content: '' },
      model(''),
    ])
    const shown = [user([text('a'), picture])]
    expect(messagesAt('cloudflare', shown)).toEqual(shown)
    expect(messagesAt('custom', [user([text('a')])])).toEqual([user([text('a')])])
  })

  test.each([
    ['a conversation in turn', [system('s'), user('a'), model('b'), user('c')], undefined],
    ['results of tools', [user('a'), call, result, result, model('b'), user('c')], undefined],
    ['two of the user', [user('a'), user('b')], [user('a\n\nb')]],
    ['the user after a result', [user('a'), call, result, user('b')], [user('a'), call, result, model('.'), user('b')]],
    ['the model first', [model('a'), user('b')], [user('.'), model('a'), user('b')]],
    ['the model last', [user('a'), model('b')], [user('a'), model('b'), user('.')]],
    ['two of the model', [user('a'), model('b'), call, result], [user('a'), model('b'), user('.'), call, result]],
    ['a late system message', [user('a'), model('b'), system('c')], [user('a'), model('b'), user('c')]],
    [
      'two system messages',
      [system('a'), { role: 'developer', content: 'b' }, user('c')],
      [system('a\n\nb'), user('c')],
    ],
    ['a system message alone', [system('a')], [system('a'), user('.')]],
  ])('alternate where the vendor wants it: %s', (_, before, after) => {
    expect(messagesAt('hunyuan', before)).toEqual(after ?? before)
  })

  test('a number is brought into its bounds', () => {
    expect(fitted('minimax', 'MiniMax-M3', { temperature: 0 })).toEqual({ temperature: 0.01 })
    expect(fitted('minimax', 'MiniMax-M3', { temperature: 1.5 })).toEqual({ temperature: 1 })
    expect(fitted('minimax', 'MiniMax-M3', { temperature: 0.5 })).toEqual({ temperature: 0.5 })
  })

  test('a model of Bedrock is known by its name after the prefixes', () => {
    expect(fitted('bedrock', 'global.openai.gpt-5.6-sol', { temperature: 0.2 })).toEqual({ dropped: ['temperature'] })
    expect(fitted('bedrock', 'openai.gpt-oss-120b-1:0', { temperature: 0.2 })).toEqual({ temperature: 0.2 })
  })
})
