import { describe, expect, test } from 'bun:test'
import { DirectMessages } from './direct.ts'
import { readMessagesRequest, type MessagesRequest } from './request.ts'
import { signatureOf } from './seal.ts'

const hi = { role: 'user', content: 'Hi' }
const base = { model: 'public', max_tokens: 100, messages: [hi] }

function read(body: object): MessagesRequest {
  const text = JSON.stringify(body)
  const got = readMessagesRequest(text, text.length, 'answer')
  if (got.kind === 'rejected') throw new Error(got.failure.message)
  return got.request
}
function refusal(body: unknown): { kind: string; message: string; param?: string } {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const got = readMessagesRequest(text, text.length, 'answer')
  return got.kind === 'rejected' ? got.failure : expect.unreachable()
}

test('a bad request is refused with the field named', () => {
  const cases: [unknown, string, string?][] = [
    ['{nope', 'invalid_json'],
    ['[]', 'invalid_type'],
    ['{"model":"a","model":"b"}', 'invalid_json'],
    [`${'['.repeat(70)}${']'.repeat(70)}`, 'invalid_value'],
    [{ ...base, model: undefined }, 'missing_parameter', 'model'],
    [{ ...base, max_tokens: undefined }, 'missing_parameter', 'max_tokens'],
    [{ ...base, max_tokens: -1 }, 'invalid_value', 'max_tokens'],
    [{ ...base, messages: [] }, 'invalid_value', 'messages'],
    [{ ...base, messages: [{ role: 'robot', content: 'x' }] }, 'invalid_value', 'messages[0].role'],
    [{ ...base, messages: [{ role: 'user' }] }, 'missing_parameter', 'messages[0].content'],
    [{ ...base, messages: [{ role: 'user', content: [null] }] }, 'invalid_type', 'messages[0].content[0]'],
    [{ ...base, temperature: 1.5 }, 'invalid_value', 'temperature'],
    [{ ...base, stream: 'yes' }, 'invalid_type', 'stream'],
    [{ ...base, tool_choice: { type: 'required' } }, 'invalid_value', 'tool_choice.type'],
    [{ ...base, tools: [{ name: '' }] }, 'invalid_value', 'tools[0].name'],
  ]
  for (const [body, kind, param] of cases) expect(refusal(body)).toMatchObject({ kind, ...(param && { param }) })
})

test('parts without a price are refused before they cost anything', () => {
  const cases: [object, string][] = [
    [{ speed: 'fast' }, 'speed'],
    [{ inference_geo: 'us' }, 'inference_geo'],
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ mcp_servers: [{}] }, 'mcp_servers'],
    [{ container: 'c' }, 'container'],
    [{ fallbacks: ['x'] }, 'fallbacks'],
    [{ thread: { type: 'create' } }, 'thread'],
    [{ Max_Tokens: 5 }, 'Max_Tokens'],
    [{ tools: [{ type: 'web_search_20260318', name: 'web_search' }] }, 'tools[0].type'],
    [
      {
        tools: [{ name: 'mine' }, { type: 'code_execution_20260521', name: 'code' }],
        tool_choice: { type: 'tool', name: 'code' },
      },
      'tools[1].type',
    ],
  ]
  for (const [fields, param] of cases) {
    expect(refusal({ ...base, ...fields })).toMatchObject({ kind: 'unsupported_parameter', param })
  }
  read({ ...base, speed: 'standard', inference_geo: null, service_tier: 'auto', mcp_servers: null })
  const document = (source: object): object => ({ role: 'user', content: [{ type: 'document', source }] })
  for (const source of [
    { type: 'url', url: 'https://example.com/a.pdf' },
    { type: 'file', file_id: 'f' },
  ]) {
    expect(refusal({ ...base, messages: [document(source)] })).toMatchObject({ param: 'messages[0].content' })
  }
})

test('media count by a rule of their own at any depth', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(4_000) } }
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'A'.repeat(400) } }
  const result = { type: 'tool_result', tool_use_id: 't', content: [image, { type: 'text', text: 'seen' }] }
  const nested = { type: 'document', source: { type: 'content', content: [image] } }
  const content = [image, pdf, result, nested, { type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } }]
  const { imageParts, mediaBytes, textBytes } = read({ ...base, messages: [{ role: 'user', content }] })
  expect([imageParts, mediaBytes]).toEqual([4, 300])
  expect(textBytes).toBeWithin(400, 1_200)
})

const quirks = {
  outputMaxField: 'max_tokens',
  usageInStream: 'unasked',
  usageDialect: 'inclusive',
} as const
const up = (request: MessagesRequest, outputTokensMax: number, betas?: string) =>
  new DirectMessages(request, betas).request({ upstreamModel: 'theirs', outputTokensMax, quirks })

test('the vendor gets the client’s own bytes, except for the model and a lowered limit', () => {
  const text = `{ "max_tokens":100, "model" : "public",\n "messages":[{"role":"user","content":"\\u0047r\\/üße"}], "x":{"model":"public"} }`
  const got = readMessagesRequest(text, text.length, 'answer')
  if (got.kind === 'rejected') return expect.unreachable()
  expect(up(got.request, 100)).toEqual({
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: text.replace('"model" : "public"', '"model" : "theirs"'),
    dropped: [],
  })
  expect(up(got.request, 50).body).toBe(
    text.replace('"model" : "public"', '"model" : "theirs"').replace('"max_tokens":100', '"max_tokens":50'),
  )
})

test('a publisher at Google Cloud gets the model in the path and the version in the body', () => {
  const text = '{ "model" : "public", "max_tokens":100, "messages":[{"role":"user","content":"Hi"}], "stream": false }'
  const got = readMessagesRequest(text, text.length, 'answer')
  if (got.kind === 'rejected') return expect.unreachable()
  const to = {
    upstreamModel: '../claude@1',
    outputTokensMax: 100,
    quirks: { ...quirks, modelIn: 'publisher_path' },
  } as const
  expect(new DirectMessages(got.request, undefined).request(to)).toEqual({
    path: '/models/_%2Fclaude%401:rawPredict',
    headers: { 'anthropic-version': '2023-06-01' },
    body: text.replace(' "model" : "public",', '"anthropic_version":"vertex-2023-10-16",'),
    dropped: [],
  })
  const streamed = new DirectMessages({ ...got.request, stream: true }, undefined).request(to)
  expect(streamed.path).toEndWith(':streamRawPredict')
})

test('betas pass, except those that cost more', () => {
  const { headers, dropped } = up(read(base), 100, 'a-2025-01-01, context-1m-2025-08-07,b-2,"x\ny"')
  expect(headers).toMatchObject({ 'anthropic-beta': 'a-2025-01-01,b-2' })
  expect(dropped).toEqual(['context-1m-2025-08-07'])
})

test('thinking of another dialect’s models is removed, and the vendor’s own goes back unchanged', () => {
  const own = { type: 'thinking', thinking: 'Mine.', signature: 'EqoB' }
  const foreign = { type: 'thinking', thinking: 'Theirs.', signature: signatureOf({ origin: 'gemini', data: 'a:b' }) }
  const unsigned = { type: 'thinking', thinking: 'Nobody’s.', signature: signatureOf(undefined) }
  const text = { type: 'text', text: 'Hello' }
  const said = (content: object[]): object => ({ role: 'assistant', content })
  const body = { ...base, messages: [hi, said([own, text]), hi, said([foreign, text, unsigned]), said([foreign]), hi] }
  const { messages } = JSON.parse(up(read(body), 100).body) as { messages: unknown }
  expect(messages).toEqual([hi, said([own, text]), hi, said([text]), hi])
})

describe('a turn that another model began', () => {
  const call = (id: string): object => ({ type: 'tool_use', id, name: 'f', input: {} })
  const result = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'x' })
  const thinking = { type: 'enabled', budget_tokens: 1_024 }
  const sent = (model: string, messages: object[], rest: object = {}) => {
    const to = { upstreamModel: model, outputTokensMax: undefined, quirks: {} as never }
    const { body, dropped } = new DirectMessages(read({ ...base, messages, ...rest }), undefined).request(to)
    return { dropped, body: JSON.parse(body) as { messages: { content: unknown[] }[]; thinking?: object } }
  }

  test('without thinking continues without a thinking budget', () => {
    const messages = [hi, { role: 'assistant', content: [call('a')] }, { role: 'user', content: [result('a')] }]
    const old = sent('claude-sonnet-4-5', messages, { thinking })
    expect(old.body.thinking).toBeUndefined()
    expect(old.dropped).toEqual(['thinking'])
    const current = sent('claude-opus-5', messages, { thinking })
    expect(current.body.thinking).toEqual({ type: 'adaptive', display: 'summarized' })
    expect(current.dropped).toEqual(['thinking.budget_tokens'])
    const answered = [...messages, { role: 'assistant', content: 'done' }, hi]
    expect(sent('claude-opus-5', answered, { thinking }).body.thinking).toEqual(thinking)
  })

  test('and was interrupted has a result for each call', () => {
    const calls = { role: 'assistant', content: [call('a'), call('b')] }
    const some = sent('claude-opus-5', [
      hi,
      calls,
      { role: 'user', content: [result('b'), { type: 'text', text: 'x' }] },
    ])
    expect(some.body.messages[2]?.content).toMatchObject([{ tool_use_id: 'a' }, { tool_use_id: 'b' }, { text: 'x' }])
    expect(sent('claude-opus-5', [hi, calls, hi]).body.messages[2]?.content).toMatchObject([
      { tool_use_id: 'a' },
      { tool_use_id: 'b' },
      { text: 'Hi' },
    ])
    const last = sent('claude-opus-5', [hi, { role: 'assistant', content: [call('a')] }])
    expect(last.body.messages[2]?.content).toMatchObject([{ tool_use_id: 'a' }])
  })
})
