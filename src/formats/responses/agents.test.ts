/** What coding agents send besides functions, translated for upstreams that know functions only, and back. */
import { describe, expect, test } from 'bun:test'
import type { Delta, Dialect } from '../../domain/turn.ts'
import { SseDecoder } from '../../lib/http/sse.ts'
import { rulesFor } from '../../vendors/fit.ts'
import type { Destination, Adapter, AdapterContext, WriterQuirks } from '../core/contract.ts'
import type { Fields } from '../core/fields.ts'
import { readResponsesClient } from './client.ts'
import { followKept } from './conversation.ts'

const quirks: WriterQuirks = { outputMaxField: 'max_tokens', usageInStream: 'on_request', usageDialect: 'inclusive' }
const context = {} as AdapterContext
const answer = { requestId: `req_${'0'.repeat(26)}`, createdAtMs: 1_000_500, publicModel: 'public' }
const usage = { inputFresh: 1, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 1, outputReasoning: 0 }

const openai = (model: string): Destination => ({
  upstreamModel: model,
  outputTokensMax: undefined,
  quirks: { ...quirks, rules: rulesFor('openai', model) },
})
const plain: Destination = { upstreamModel: 'theirs', outputTokensMax: undefined, quirks }

function adapter(body: object, dialect: Dialect = 'chat'): Adapter {
  const text = JSON.stringify({ model: 'public', ...body })
  const read = readResponsesClient(text, Buffer.byteLength(text))
  if (read instanceof Promise) throw new Error('it is too large')
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  const failure = read.request.conversation.recall([], [])
  if (failure) throw new Error(`${failure.message} (${failure.param})`)
  return read.request.adapter([dialect], context)
}

type SentBody = { readonly body: Fields; readonly dropped: readonly string[] }

function sent(body: object, dialect: Dialect = 'chat', to = plain): SentBody {
  const { body: text, dropped } = adapter(body, dialect).request(to)
  return { body: JSON.parse(text) as Fields, dropped }
}

type ChatTool = { readonly type: string; readonly function: { readonly name: string } & Fields }
const namesOf = ({ body }: SentBody): string[] => (body['tools'] as ChatTool[]).map((tool) => tool.function.name)

const fn = (name: string, rest: object = {}): object => ({ type: 'function', name, description: name, ...rest })
const group = (name: string, ...tools: object[]): object => ({ type: 'namespace', name, description: '', tools })
const free = { type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/s' } }
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } }
const user = { role: 'user', content: 'go' }

/** What a client gets if a chat vendor calls these functions, whole and streamed. */
async function called(body: object, calls: readonly (readonly [string, string])[], to = plain): Promise<Fields[]> {
  const toolCalls = calls.map(([name, words], index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: words },
  }))
  const choice = { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: toolCalls } }
  const whole = adapter(body)
  whole.request(to)
  const read = await whole.readReply(JSON.stringify({ choices: [choice], usage: {} }), to.quirks)
  if (read.kind === 'failed') throw new Error(read.failure.message)
  const chunks = [{ tool_calls: toolCalls }, {}].map((delta, i) => ({
    choices: [{ index: 0, delta, finish_reason: i === 0 ? null : 'tool_calls' }],
  }))
  const streamed = adapter({ ...body, stream: true })
  streamed.request(to)
  const stream = streamed.openStream(answer, to.quirks)
  let text = ''
  for (const chunk of chunks) {
    const event = stream.read({ event: '', data: JSON.stringify(chunk) } as never)
    if (event.kind === 'chunk') text += event.text
  }
  text += stream.end(usage)
  const output = (JSON.parse(read.reply.write(answer, usage)) as { output: Fields[] }).output
  expect(outputOf(text)).toEqual(output)
  return output
}

const eventsOf = (text: string): Fields[] =>
  new SseDecoder(1_000_000)
    .push(Buffer.from(text))
    .flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as Fields]))

/** The items of a stream, which contains each of them at least twice. */
function outputOf(text: string): Fields[] {
  const events = eventsOf(text)
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as Fields)
  const added = events.filter(({ type }) => type === 'response.output_item.added').map(({ item }) => item as Fields)
  const ids = (items: readonly Fields[]): Set<unknown> => new Set(items.map(({ id }) => id))
  expect(ids(added)).toEqual(ids(done))
  const { output = [] } = (events.at(-1)?.['response'] ?? {}) as { output?: Fields[] }
  expect(ids(output)).toEqual(ids(done))
  return output
}

describe('tools in groups', () => {
  test('are functions with plain names, and their calls have the client’s own names', async () => {
    const tools = [fn('look'), group('mcp__words', fn('secret_word'), free), group('functions', fn('wait'))]
    const body = { input: [user], tools }
    expect(namesOf(sent(body))).toEqual(['look', 'mcp__words__secret_word', 'mcp__words__exec', 'wait'])
    expect(sent(body).dropped).toEqual([])
    const output = await called(body, [
      ['mcp__words__secret_word', '{"hint":1.0}'],
      ['mcp__words__exec', '{"input":"text(\\"a\\")\\n"}'],
      ['wait', '{}'],
      ['look', '{}'],
    ])
    expect(output).toMatchObject([
      { type: 'function_call', namespace: 'mcp__words', name: 'secret_word', arguments: '{"hint":1.0}' },
      { type: 'custom_tool_call', namespace: 'mcp__words', name: 'exec', input: 'text("a")\n' },
      { type: 'function_call', namespace: 'functions', name: 'wait' },
      { type: 'function_call', name: 'look' },
    ])
    expect(output[3]).not.toHaveProperty('namespace')
  })

  test('are found by a name without the group, or with a dot after it, if only one tool fits', async () => {
    const body = { input: [user], tools: [group('words', fn('secret')), group('a', fn('x')), group('b', fn('x'))] }
    expect(
      await called(body, [
        ['secret', '{}'],
        ['words.secret', '{}'],
        ['x', '{}'],
        ['unknown', '{}'],
      ]),
    ).toMatchObject([
      { namespace: 'words', name: 'secret' },
      { namespace: 'words', name: 'secret' },
      { name: 'x' },
      { name: 'unknown' },
    ])
  })

  test('keep lawful names, and names that collide, are too long or unlawful come back right', async () => {
    const long = 'a'.repeat(60)
    const tools = [
      fn('a__b__c'),
      group('a', fn('b__c')),
      group('a__b', fn('c')),
      group(`mcp__${long}`, fn(long), fn(`${long}b`)),
      group('mcp__größe', fn('x.y')),
      group('functions', fn('a__b__c')),
    ]
    const names = namesOf(sent({ input: [user], tools }))
    expect(new Set(names).size).toBe(7)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][\w-]{0,63}$/)
    expect(names[0]).toBe('a__b__c')
    const output = await called(
      { input: [user], tools },
      names.map((name) => [name, '{}'] as const),
    )
    expect(output.map(({ namespace, name }) => [namespace, name])).toEqual([
      [undefined, 'a__b__c'],
      ['a', 'b__c'],
      ['a__b', 'c'],
      [`mcp__${long}`, long],
      [`mcp__${long}`, `${long}b`],
      ['mcp__größe', 'x.y'],
      ['functions', 'a__b__c'],
    ])
  })

  test('have the same names in the history, whether or not they are still declared', () => {
    const calls = [
      { type: 'function_call', call_id: 'c1', namespace: 'mcp__words', name: 'secret_word', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'XYZZY' },
      { type: 'custom_tool_call', call_id: 'c2', namespace: 'functions', name: 'exec', input: 'a "b"' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'c' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'and more' },
    ]
    for (const tools of [[], [group('mcp__words', fn('secret_word')), group('functions', free)]]) {
      const { body } = sent({ input: [user, ...calls], tools })
      expect(body['messages']).toMatchObject([
        { role: 'user' },
        { tool_calls: [{ id: 'c1', function: { name: 'mcp__words__secret_word', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'XYZZY' },
        { tool_calls: [{ id: 'c2', function: { name: 'exec' } }] },
        { role: 'tool', tool_call_id: 'c2', content: 'c\n\nand more' },
      ])
    }
    const gemini = sent({ input: [user, ...calls] }, 'gemini').body
    expect(JSON.stringify(gemini)).toContain('"functionCall":{"id":"c2","name":"exec","args":{"input":"a \\"b\\""}}')
  })

  test('are chosen by the client’s names', () => {
    const tools = [group('words', fn('secret')), fn('look'), free]
    const choice = (tool_choice: object): unknown => sent({ input: [user], tools, tool_choice }).body['tool_choice']
    const named = (name: string): object => ({ type: 'function', function: { name } })
    expect(choice({ type: 'function', namespace: 'words', name: 'secret' })).toEqual(named('words__secret'))
    expect(choice({ type: 'function', name: 'secret' })).toEqual(named('words__secret'))
    expect(choice({ type: 'custom', name: 'exec' })).toEqual(named('exec'))
  })

  test('state their common description once, and marks of one vendor are left out', () => {
    const schema = { type: 'object', properties: { message: { type: 'string', encrypted: true } } }
    const about = { ...group('team', fn('spawn', { parameters: schema }), fn('list')), description: 'Sub-agents.' }
    const [spawn, list] = sent({ input: [user], tools: [about] }).body['tools'] as ChatTool[]
    expect(spawn?.function).toEqual({
      name: 'team__spawn',
      description: 'spawn\n\nSub-agents.',
      parameters: { type: 'object', properties: { message: { type: 'string' } } },
    })
    expect(list?.function['description']).toBe('list')
  })
})

describe('tools that are declared in the input', () => {
  const additional = { type: 'additional_tools', role: 'developer', tools: [group('functions', free, fn('wait'))] }

  test('are the same as those of the request', async () => {
    const body = { input: [additional, user] }
    expect(namesOf(sent(body))).toEqual(['exec', 'wait'])
    expect(await called(body, [['exec', '{"input":"1"}']])).toMatchObject([
      { type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: '1' },
    ])
    for (const dialect of ['messages', 'gemini', 'responses'] as const) {
      const text = JSON.stringify(sent(body, dialect).body)
      expect(text).toContain('"name":"exec"')
      expect(text).not.toContain('additional_tools')
    }
    expect(() => adapter({ input: [additional, user], tool_choice: 'required' })).not.toThrow()
  })

  test('are searched by the client, and callable after that', async () => {
    const words = { query: 'word', limit: 3 }
    const asks = { input: [user], tools: [search] }
    expect(sent(asks).body['tools']).toMatchObject([{ function: { name: 'tool_search', description: 'Finds tools.' } }])
    const [item] = await called(asks, [['tool_search', JSON.stringify(words)]])
    expect(item).toMatchObject({ type: 'tool_search_call', execution: 'client', call_id: 'call_0', arguments: words })
    const found = { type: 'tool_search_output', call_id: 'call_0', execution: 'client', status: 'completed' }
    const output = { ...found, tools: [group('mcp__words', fn('secret_word'))] }
    const next = sent({ input: [user, item, output], tools: [search] })
    expect(namesOf(next)).toEqual(['tool_search', 'mcp__words__secret_word'])
    expect(next.body['messages']).toMatchObject([
      { role: 'user' },
      { tool_calls: [{ id: 'call_0', function: { name: 'tool_search', arguments: JSON.stringify(words) } }] },
      { role: 'tool', tool_call_id: 'call_0', content: 'These tools can be called now: mcp__words__secret_word.' },
    ])
    expect(next.dropped).toEqual([])
  })
})

describe('tools with call types of their own', () => {
  test('are functions, and their calls become items of their types', async () => {
    const tools = ['local_shell', 'shell', 'apply_patch'].map((type) => ({ type }))
    expect(namesOf(sent({ input: [user], tools }))).toEqual(['local_shell', 'shell', 'apply_patch'])
    const operation = { type: 'update_file', path: 'a.txt', diff: '+b' }
    const output = await called({ input: [user], tools }, [
      ['local_shell', '{"command":["ls","-l"],"timeout_ms":5}'],
      ['local_shell', '{"command":"ls | wc"}'],
      ['shell', '{"commands":["ls"]}'],
      ['apply_patch', JSON.stringify(operation)],
    ])
    const exec = { type: 'exec', env: {} }
    expect(output).toMatchObject([
      { type: 'local_shell_call', action: { ...exec, command: ['ls', '-l'], timeout_ms: 5 }, status: 'completed' },
      { type: 'local_shell_call', action: { ...exec, command: ['bash', '-lc', 'ls | wc'] } },
      { type: 'shell_call', action: { commands: ['ls'], timeout_ms: null, max_output_length: null } },
      { type: 'apply_patch_call', operation },
    ])
    const [first, , shell, patch] = output as [Fields, Fields, Fields, Fields]
    const results = [
      { type: 'local_shell_call_output', id: first['id'], output: 'two files' },
      {
        type: 'shell_call_output',
        call_id: shell['call_id'],
        output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
      { type: 'apply_patch_call_output', call_id: patch['call_id'], status: 'failed', output: 'no such file' },
    ]
    const { body, dropped } = sent({ input: [user, first, shell, patch, ...results], tools })
    expect(body['messages']).toMatchObject([
      { role: 'user' },
      {
        tool_calls: [
          { function: { name: 'local_shell', arguments: '{"command":["ls","-l"],"env":{},"timeout_ms":5}' } },
          { function: { name: 'shell' } },
          { function: { name: 'apply_patch', arguments: JSON.stringify(operation) } },
        ],
      },
      { role: 'tool', content: 'two files' },
      { role: 'tool', content: '[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]' },
      { role: 'tool', content: 'failed\nno such file' },
    ])
    expect(dropped).toEqual([])
  })

  test('do not take the name of a function', async () => {
    const body = { input: [user], tools: [search, fn('tool_search')] }
    const names = namesOf(sent(body))
    expect(new Set(names).size).toBe(2)
    const output = await called(
      body,
      names.map((name) => [name, '{}'] as const),
    )
    expect(new Set(output.map(({ type }) => type))).toEqual(new Set(['function_call', 'tool_search_call']))
  })
})

test('in the background a call of any kind is the same when it is followed later', () => {
  const tools = [search, { type: 'local_shell' }, group('words', fn('secret'), free)]
  const text = JSON.stringify({ model: 'public', input: [user], tools, background: true, stream: true })
  const read = readResponsesClient(text, text.length)
  if (read instanceof Promise || read.kind === 'rejected') throw new Error('it was not read')
  const { conversation } = read.request
  expect(conversation.recall([], [])).toBeUndefined()
  const encoder = conversation.side('ours').encoder(answer)
  const call = (n: number, name: string, tool: 'function' | 'custom' = 'function'): Delta => ({
    kind: 'call',
    choice: 0,
    call: n,
    id: `c${n}`,
    name,
    tool,
  })
  const words = (n: number, part: string): Delta => ({ kind: 'arguments', choice: 0, call: n, text: part })
  const events =
    encoder.encode([
      { kind: 'text', choice: 0, text: 'I look.' },
      call(0, 'tool_search'),
      words(0, '{ "query" :'),
      words(0, ' "x" }'),
      call(1, 'words__secret'),
      words(1, '{"n":'),
      words(1, '1}'),
      call(2, 'words__exec', 'custom'),
      words(2, 'a '),
      words(2, 'b'),
      call(3, 'local_shell'),
      words(3, '{"command":["ls"],'),
      words(3, '"timeout_ms":1}'),
      { kind: 'finish', choice: 0, reason: 'tool_calls' },
    ]) + encoder.end(usage)
  const kept = conversation.ended()
  if (!kept) throw new Error('nothing was kept')
  expect(outputOf(events).map(({ type, namespace }) => [type, namespace])).toEqual([
    ['message', undefined],
    ['tool_search_call', undefined],
    ['function_call', 'words'],
    ['custom_tool_call', 'words'],
    ['local_shell_call', undefined],
  ])
  expect(followKept(kept, { after: -1, include: [] })).toBe(events)
})

test('an effort above all others is the highest, and an unknown one is left out and named', () => {
  const of = (effort: string): unknown[] => {
    const { body, dropped } = sent({ input: [user], reasoning: { effort } })
    return [body['reasoning_effort'], dropped]
  }
  expect(of('ultra')).toEqual(['max', []])
  expect(of('extreme')).toEqual([undefined, ['reasoning.effort']])
})

test('settings change where the conversation changes them', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } } }
  const format = { type: 'json_schema', name: 'x', schema }
  const update = (fields: object): object => ({ type: 'configuration_update', ...fields })
  const input = [update({ reasoning: { effort: 'low' } }), user, update({ reasoning: { effort: 'high' } }), user]
  const { body, dropped } = sent({ input: [...input, update({ text: { format } })], reasoning: { effort: 'medium' } })
  expect(body).toMatchObject({ reasoning_effort: 'high', response_format: { json_schema: { name: 'x', schema } } })
  expect([(body['messages'] as object[]).length, dropped]).toEqual([2, []])
})

describe('items that no other dialect can express', () => {
  test('are left out and named, and the request is answered', () => {
    const input = [
      user,
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
      { type: 'tool_search_output', call_id: null, execution: 'server', tools: [] },
      { type: 'a_new_one' },
      { type: 'compaction', encrypted_content: 'opaque' },
      { role: 'user', content: 'on' },
    ]
    for (const dialect of ['chat', 'messages', 'gemini', 'responses'] as const) {
      const { body, dropped } = sent({ input }, dialect)
      expect(dropped).toEqual(
        ['web_search_call', 'tool_search_call', 'tool_search_output', 'a_new_one', 'compaction'].map(
          (type) => `input.${type}`,
        ),
      )
      expect(JSON.stringify(body)).not.toMatch(/web_search|tool_search|a_new_one|opaque/)
    }
  })

  test('unknown parts of results become the text in them', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
    const parts = [
      { type: 'input_text', text: 'a' },
      { type: 'encrypted_content', encrypted_content: 'b' },
      { type: 'encrypted_content', encrypted_content: `gAAAAABo${'x'.repeat(60)}` },
      { type: 'a_new_one', data: [1] },
    ]
    const said = { role: 'assistant', content: [{ type: 'output_text', text: 'so' }, { type: 'a_new_one' }] }
    const input = [user, call, { type: 'function_call_output', call_id: 'c1', output: parts }, said]
    expect(sent({ input }).body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: 'a\n\nb' },
      { role: 'assistant', content: 'so' },
    ])
    const native = sent({ input }, 'responses', openai('gpt-5.5')).body['input'] as Fields[]
    expect(native[2]?.['output']).toEqual(parts)
    expect(native[3]?.['content']).toEqual([{ type: 'output_text', text: 'so' }, { type: 'a_new_one' }])
  })

  test('a message of another agent becomes the user’s, except for text that only OpenAI can read', () => {
    const of = (payload: string): unknown =>
      sent({
        input: [
          {
            type: 'agent_message',
            author: '/root',
            content: [
              { type: 'input_text', text: 'Payload:' },
              { type: 'encrypted_content', encrypted_content: payload },
            ],
          },
        ],
      }).body['messages']
    expect(of('Count the files.')).toEqual([
      { role: 'user', content: 'Message from /root:\nPayload:\nCount the files.' },
    ])
    expect(of(`gAAAAABo${'x'.repeat(60)}`)).toEqual([{ role: 'user', content: 'Message from /root:\nPayload:' }])
  })
})

describe('a compaction', () => {
  const body = { input: [user, { type: 'compaction_trigger' }], tools: [fn('look')] }

  test('is a summary by a model without a way of its own, and the conversation continues from it', async () => {
    const { body: asked } = sent(body)
    expect(asked).toMatchObject({ tool_choice: 'none', tools: [{ function: { name: 'look' } }] })
    expect(JSON.stringify(asked['messages'])).toContain('Write a summary of this conversation')
    const whole = adapter(body)
    const message = { role: 'assistant', content: 'Ada wants “X”.' }
    const text = JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message }], usage: {} })
    const read = await whole.readReply(text, quirks)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    const { output } = JSON.parse(read.reply.write(answer, usage)) as { output: Fields[] }
    const stream = adapter({ ...body, stream: true }).openStream(answer, quirks)
    let events = ''
    for (const delta of [{ content: 'Ada wants' }, { content: ' “X”.' }]) {
      const event = stream.read({ data: JSON.stringify({ choices: [{ index: 0, delta }] }) } as never)
      if (event.kind === 'chunk') events += event.text
    }
    const end = stream.read({ data: '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}' } as never)
    if (end.kind === 'chunk') events += end.text
    expect(outputOf(events + stream.end(usage))).toEqual(output)
    expect(output).toMatchObject([{ type: 'compaction', id: expect.stringMatching(/^cmp_/) as string }])
    const next = { input: [...output, { role: 'user', content: 'on' }] }
    for (const [dialect, to] of [
      ['chat', plain],
      ['responses', openai('gpt-5.5')],
    ] as const) {
      expect(JSON.stringify(sent(next, dialect, to).body)).toContain(
        'What was said before, in short:\\n\\nAda wants “X”.',
      )
    }
  })

  test('is made by the vendor if it has a way of its own', async () => {
    const to = openai('gpt-5.5')
    const way = adapter(body, 'responses')
    expect(JSON.parse(way.request(to).body)).toMatchObject({ input: [{}, { type: 'compaction_trigger' }] })
    const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAA' }
    const read = await way.readReply(JSON.stringify({ status: 'completed', output: [item], usage: {} }), to.quirks)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    const { output } = JSON.parse(read.reply.write(answer, usage)) as { output: Fields[] }
    expect(output).toEqual([item])
    expect(sent({ input: [item, user] }, 'responses', to).body).toMatchObject({ input: [item, {}] })
  })
})
