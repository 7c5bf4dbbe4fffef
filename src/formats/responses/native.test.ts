/** A vendor that takes all of this format gets everything, except what the gateway does itself or cannot price. */
import { describe, expect, test } from 'bun:test'
import { SseDecoder } from '../../lib/http/sse.ts'
import { rulesFor } from '../../vendors/fit.ts'
import type { Fields } from '../core/fields.ts'
import type { Destination, Adapter, AdapterContext } from '../core/contract.ts'
import { followKept } from './conversation.ts'
import { readResponsesClient } from './client.ts'

const answer = { requestId: `req_${'0'.repeat(26)}`, createdAtMs: 1_000_500, publicModel: 'public' }
const usage = { inputFresh: 1, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 1, outputReasoning: 0 }

const at = (model: string): Destination => ({
  upstreamModel: model,
  outputTokensMax: undefined,
  quirks: {
    outputMaxField: 'max_tokens',
    usageInStream: 'on_request',
    usageDialect: 'inclusive',
    rules: rulesFor('openai', model),
  },
})
const newest = at('gpt-5.6-sol')

function client(body: object, earlier: Parameters<typeof recalled>[1] = []) {
  const text = JSON.stringify({ model: 'public', ...body })
  const read = readResponsesClient(text, Buffer.byteLength(text))
  if (read instanceof Promise || read.kind === 'rejected') throw new Error('it was not read')
  return recalled(read.request, earlier)
}

function recalled(
  request: Extract<Awaited<ReturnType<typeof readResponsesClient>>, { kind: 'read' }>['request'],
  earlier: Parameters<typeof request.conversation.recall>[0],
) {
  const failure = request.conversation.recall(earlier, [])
  if (failure) throw new Error(failure.message)
  return request
}

const adapter = (body: object): Adapter => client(body).adapter(['responses'], {} as AdapterContext)

type SentBody = { readonly body: Fields; readonly input: readonly Fields[]; readonly dropped: readonly string[] }

function sent(body: object, to = newest): SentBody {
  const { body: text, dropped } = adapter(body).request(to)
  const parsed = JSON.parse(text) as Fields
  return { body: parsed, input: parsed['input'] as Fields[], dropped }
}

const fn = (name: string): object => ({ type: 'function', name, parameters: { type: 'object' }, strict: false })
const group = { type: 'namespace', name: 'words', description: 'W.', tools: [fn('secret')] }
const free = { type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/s' } }
const search = { type: 'tool_search', execution: 'client', parameters: { type: 'object' } }
const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] }

describe('a request', () => {
  test('keeps unknown fields and items unchanged', () => {
    const items = [
      { type: 'additional_tools', role: 'developer', id: 'at_1', tools: [group, free] },
      { ...user, internal_metadata: { turn: 1 } },
      { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'I look.' }] },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        namespace: 'words',
        name: 'secret',
        arguments: '{}',
        caller: 'x',
      },
      { type: 'function_call_output', call_id: 'c1', output: 'XYZZY' },
      { type: 'tool_search_call', id: 'ts_1', call_id: 'c2', execution: 'client', arguments: { query: 'x' } },
      { type: 'tool_search_output', call_id: 'c2', execution: 'client', tools: [group] },
      { type: 'local_shell_call', id: 'ls_1', call_id: 'c3', action: { type: 'exec', command: ['ls'], env: {} } },
      { type: 'local_shell_call_output', id: 'ls_1', output: 'a' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'a_new_one', data: [1] },
    ]
    const fields = {
      instructions: 'Be brief.',
      client_metadata: { a: 'b' },
      prompt_cache_key: 'K',
      prompt_cache_retention: '24h',
      reasoning: { effort: 'low', context: 'all_turns' },
      text: { verbosity: 'low' },
      truncation: 'auto',
      max_tool_calls: 3,
      tool_choice: 'auto',
      parallel_tool_calls: false,
      a_new_field: { x: 1 },
    }
    const { body, input, dropped } = sent({ ...fields, input: items, tools: [fn('look'), search], store: true })
    expect(body).toMatchObject({ ...fields, model: 'gpt-5.6-sol', store: false, tools: [fn('look'), search] })
    expect(body['include']).toEqual(['reasoning.encrypted_content'])
    expect(body).not.toHaveProperty('metadata')
    const asSent = items.map((item: Fields) => {
      const { status: _, ...rest } = item
      return rest
    })
    expect(input).toEqual(asSent)
    expect(dropped).toEqual([])
  })

  test('loses tools that the vendor runs for a price, wherever they are declared', () => {
    const input = [{ type: 'additional_tools', role: 'developer', tools: [group, { type: 'web_search' }] }, user]
    const { body, input: written, dropped } = sent({ input, tools: [fn('look'), { type: 'mcp', server_url: 'x' }] })
    expect(body['tools']).toEqual([fn('look')])
    expect(written[0]?.['tools']).toEqual([group])
    expect(dropped.toSorted()).toEqual(['tools.mcp', 'tools.web_search'])
  })

  test('brings the earlier turns, without ids that mean nothing to the vendor', () => {
    const id = `resp_${'1'.repeat(26)}`
    const seal = Buffer.from('{"o":"responses","d":"opaque","f":"rs_theirs"}').toString('base64url')
    const tail = id.slice(5)
    const turn = {
      id,
      state: 'ended',
      input: JSON.stringify([{ ...user, id: `msg_${tail}_i0`, status: 'completed' }]),
      output: JSON.stringify([
        { id: `rs_${tail}_0`, type: 'reasoning', status: 'completed', summary: [], encrypted_content: `tgs1_${seal}` },
        {
          id: `msg_${tail}_1`,
          type: 'message',
          status: 'completed',
          role: 'assistant',
          phase: 'final_answer',
          content: [{ type: 'output_text', text: 'A.', annotations: [], logprobs: [] }],
        },
      ]),
    } as const
    const request = client({ input: 'on', previous_response_id: id }, [turn])
    const { body } = request.adapter(['responses'], {} as AdapterContext).request(newest)
    expect(JSON.parse(body)).not.toHaveProperty('previous_response_id')
    expect((JSON.parse(body) as { input: unknown }).input).toEqual([
      user,
      { type: 'reasoning', id: 'rs_theirs', summary: [], encrypted_content: 'opaque' },
      { type: 'message', role: 'assistant', phase: 'final_answer', content: [{ type: 'output_text', text: 'A.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'on' }] },
    ])
  })

  test('loses reasoning of other vendors, and reasoning without an item after it', () => {
    const seal = (o: string): string => `tgs1_${Buffer.from(JSON.stringify({ o, d: 'x' })).toString('base64url')}`
    const thought = (encrypted_content?: string): object => ({ type: 'reasoning', summary: [], encrypted_content })
    const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A.' }] }
    const { input, dropped } = sent({
      input: [
        user,
        thought(seal('gemini')),
        thought(),
        thought('kept'),
        call,
        { type: 'function_call_output', call_id: 'c1', output: 'x' },
        thought('of a call that was cut'),
        { ...call, call_id: 'c2', status: 'incomplete' },
        user,
        thought('last'),
        said,
        thought('of nothing'),
      ],
    })
    expect(input.map(({ type, encrypted_content: sealed }) => sealed ?? type)).toEqual([
      'message',
      'kept',
      'function_call',
      'function_call_output',
      'message',
      'last',
      'message',
    ])
    expect(dropped).toEqual(['reasoning'])
  })

  test('has ids of calls and items that the vendor accepts', () => {
    const long = 'x'.repeat(65)
    const { input } = sent({
      input: [
        { ...user, id: 'foreign' },
        { type: 'function_call', id: 'msg_1', call_id: long, name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: long, output: 'x' },
      ],
    })
    expect(input[0]).not.toHaveProperty('id')
    expect(input[1]).not.toHaveProperty('id')
    expect(input[1]?.['call_id']).toMatch(/^\w{1,64}$/)
    expect(input[2]?.['call_id']).toBe(input[1]?.['call_id'])
  })

  test('has plain functions for models that know free text only, and functions only for older ones', () => {
    const items = [
      { type: 'additional_tools', role: 'developer', tools: [group] },
      user,
      { type: 'function_call', call_id: 'c1', namespace: 'words', name: 'secret', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'x' },
      { type: 'tool_search_call', call_id: 'c2', execution: 'client', arguments: { query: 'x' } },
      { type: 'tool_search_output', call_id: 'c2', execution: 'client', tools: [] },
      { type: 'custom_tool_call', call_id: 'c3', name: 'exec', input: 'a' },
      { type: 'custom_tool_call_output', call_id: 'c3', output: 'b' },
    ]
    const older = sent({ input: items, tools: [free, search], a_new_field: 1, prompt_cache_key: 'K' }, at('gpt-5.1'))
    expect((older.body['tools'] as Fields[]).map(({ type, name }) => [type, name])).toEqual([
      ['custom', 'exec'],
      ['function', 'tool_search'],
      ['function', 'words__secret'],
    ])
    expect(older.input.map(({ type, name }) => [type, name])).toEqual([
      ['message', undefined],
      ['function_call', 'words__secret'],
      ['function_call_output', undefined],
      ['function_call', 'tool_search'],
      ['function_call_output', undefined],
      ['custom_tool_call', 'exec'],
      ['custom_tool_call_output', undefined],
    ])
    expect(older.body).toMatchObject({ a_new_field: 1, prompt_cache_key: 'K' })
    const oldest = sent({ input: items, tools: [free, search], a_new_field: 1, prompt_cache_key: 'K' }, at('gpt-4.1'))
    expect((oldest.body['tools'] as Fields[]).map(({ type }) => type)).toEqual(['function', 'function', 'function'])
    expect(oldest.body).toMatchObject({ prompt_cache_key: 'K' })
    expect(oldest.dropped).toContain('a_new_field')
  })
})

const sources = [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 }]
const output = [
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque', a_new_field: 1 },
  {
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    phase: 'commentary',
    content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
  },
  {
    type: 'message',
    id: 'msg_2',
    status: 'completed',
    role: 'assistant',
    phase: 'final_answer',
    content: [{ type: 'output_text', text: 'It is A.', annotations: sources }],
  },
  {
    type: 'function_call',
    id: 'fc_1',
    status: 'completed',
    call_id: 'c1',
    namespace: 'words',
    name: 'secret',
    arguments: '{"n":1.0}',
  },
  {
    type: 'custom_tool_call',
    id: 'ctc_1',
    status: 'completed',
    call_id: 'c2',
    namespace: 'functions',
    name: 'exec',
    input: 'a',
  },
  {
    type: 'tool_search_call',
    id: 'ts_1',
    status: 'completed',
    call_id: 'c3',
    execution: 'client',
    arguments: { query: 'x' },
  },
  { type: 'a_new_one', id: 'x_1', data: [1.5] },
]
const whole = { id: 'resp_theirs', object: 'response', status: 'completed', output, usage: {} }

function eventsOf(item: Fields, output_index: number): object[] {
  const open = { ...item, status: 'in_progress' }
  const added = { type: 'response.output_item.added', output_index, item: open }
  const done = { type: 'response.output_item.done', output_index, item }
  const delta = (name: string, text: unknown): object => ({ type: `response.${name}.delta`, output_index, delta: text })
  switch (item['type']) {
    case 'message': {
      const [part] = item['content'] as Fields[]
      return [{ ...added, item: { ...open, content: [] } }, delta('output_text', part?.['text']), done]
    }
    case 'function_call':
      return [added, delta('function_call_arguments', item['arguments']), done]
    case 'custom_tool_call':
      return [added, delta('custom_tool_call_input', item['input']), done]
    default:
      return [added, done]
  }
}

function streamed(body: object): { text: string; request: ReturnType<typeof client> } {
  const request = client({ ...body, stream: true })
  const way = request.adapter(['responses'], {} as AdapterContext)
  way.request(newest)
  const stream = way.openStream(answer, newest.quirks)
  const head = { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } }
  let text = ''
  for (const event of [head, ...output.flatMap(eventsOf), { type: 'response.completed', response: whole }]) {
    const read = stream.read({ data: JSON.stringify(event) } as never)
    if (read.kind === 'chunk') text += read.text
  }
  return { text: text + stream.end(usage), request }
}

const parsed = (text: string): Fields[] =>
  new SseDecoder(1_000_000)
    .push(Buffer.from(text))
    .flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as Fields]))

describe('an answer', () => {
  const shown = output.map((item) => {
    const { id, encrypted_content: _, ...rest } = item as Fields
    const isKnown = ['message', 'reasoning', 'function_call', 'custom_tool_call'].includes(item.type)
    return isKnown ? rest : { ...rest, id }
  })

  test('keeps phases, sources, groups and unknown items, whole and streamed', async () => {
    const body = { input: 'go', tools: [fn('look')] }
    const way = adapter(body)
    way.request(newest)
    const read = await way.readReply(JSON.stringify(whole), newest.quirks)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    const { output: got } = JSON.parse(read.reply.write(answer, usage)) as { output: Fields[] }
    expect(got).toMatchObject(shown)
    const events = parsed(streamed(body).text)
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as Fields)
    expect(done.toSorted((a, b) => String(a['id']).localeCompare(String(b['id'])))).toEqual(
      got.toSorted((a, b) => String(a['id']).localeCompare(String(b['id']))),
    )
    expect(events.at(-1)).toMatchObject({ response: { output: got } })
    const added = events.filter(({ type }) => type === 'response.output_item.added').map(({ item }) => item as Fields)
    expect(added.find(({ type }) => type === 'message')?.['phase']).toBe('commentary')
    expect(added.find(({ type }) => type === 'function_call')).toMatchObject({ namespace: 'words', name: 'secret' })
    expect(JSON.stringify(got)).not.toMatch(/"(?:rs|msg|fc|ctc)_1"/)
  })

  test('goes back up unchanged', async () => {
    const way = adapter({ input: 'go', include: ['reasoning.encrypted_content'] })
    way.request(newest)
    const read = await way.readReply(JSON.stringify(whole), newest.quirks)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    const { output: got } = JSON.parse(read.reply.write(answer, usage)) as { output: Fields[] }
    const results = ['c1', 'c2', 'c3'].map((call_id, i) => ({
      type: ['function_call_output', 'custom_tool_call_output', 'tool_search_output'][i],
      call_id,
      ...(i === 2 ? { execution: 'client', tools: [] } : { output: 'x' }),
    }))
    const { input } = sent({ input: [user, ...got, ...results] })
    expect(input.slice(1, 1 + output.length)).toMatchObject(
      output.map((item) => {
        const { id, status: _, content, ...rest } = item as Fields
        return { ...rest, ...(item.type === 'reasoning' ? { id } : {}), ...(content ? { content: [{}] } : {}) }
      }),
    )
    expect(input[4]).toMatchObject({ content: [{ annotations: sources }] })
  })

  test('in the background is the same when it is followed later', () => {
    const { text, request } = streamed({ input: 'go', background: true, store: true })
    const kept = request.conversation.ended()
    if (!kept) throw new Error('nothing was kept')
    expect(followKept(kept, { after: -1, include: [] })).toBe(text)
    expect(followKept(kept, { after: 7, include: [] })).toBe(
      text.slice(text.indexOf('event:', text.indexOf('"sequence_number":7'))),
    )
  })

  test('without fields of this format reaches clients of others', async () => {
    const turn = client({ input: 'go' })
    const way = turn.adapter(['responses'], {} as AdapterContext)
    way.request(newest)
    const read = await way.readReply(JSON.stringify({ ...whole, output: [output[2], output[3]] }), newest.quirks)
    if (read.kind === 'failed') throw new Error(read.failure.message)
    expect(read.reply.produced).toContain('It is A.')
  })
})
