/** An event of the maximum length arrives whole, for clients and vendors of every dialect. */
import { describe, expect, test } from 'bun:test'
import { AWS_EVENT_STREAM, awsEvent } from '../support/aws-frames.ts'
import { useGateway } from '../support/use-gateway.ts'

const dialects = ['chat', 'responses', 'messages', 'gemini'] as const
type Dialect = (typeof dialects)[number]
const upstreams = [...dialects, 'converse'] as const
type Upstream = (typeof upstreams)[number]

/** A file that a model writes. Some of it is beyond Latin-1, which doubles its place in memory. */
const WORDS = `${'write this down, please. '.repeat(100_000)}東京`
const args = { text: WORDS }
const quoted = JSON.stringify(args)

const item = { type: 'function_call', id: 'fc', call_id: 'call_1', name: 'f', arguments: quoted, status: 'completed' }
const response = {
  id: 'resp',
  object: 'response',
  status: 'completed',
  model: 'up',
  output: [item],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
}
const chunk = (delta: object, finish: string | null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const streams: Readonly<Record<Dialect, readonly object[]>> = {
  chat: [
    chunk(
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: quoted } }] },
      null,
    ),
    chunk({}, 'tool_calls'),
  ],
  responses: [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 0, delta: quoted },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ],
  messages: [
    {
      type: 'message_start',
      message: {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'up',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'call_1', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: quoted } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
  gemini: [
    {
      candidates: [
        { content: { role: 'model', parts: [{ functionCall: { name: 'f', args } }] }, finishReason: 'STOP' },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ],
}

const at = { contentBlockIndex: 0 }
const frames = Buffer.concat([
  awsEvent('messageStart', { role: 'assistant' }),
  awsEvent('contentBlockStart', { ...at, start: { toolUse: { toolUseId: 'call_1', name: 'f' } } }),
  awsEvent('contentBlockDelta', { ...at, delta: { toolUse: { input: quoted } } }),
  awsEvent('contentBlockStop', at),
  awsEvent('messageStop', { stopReason: 'tool_use' }),
  awsEvent('metadata', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
])

const hi = [{ role: 'user', content: 'hi' }]
const requests: Readonly<Record<Dialect, (model: string) => { path: string; body: object; end: string }>> = {
  chat: (model) => ({ path: '/v1/chat/completions', body: { model, stream: true, messages: hi }, end: '[DONE]' }),
  responses: (model) => ({
    path: '/v1/responses',
    body: { model, stream: true, input: 'hi' },
    end: 'response.completed',
  }),
  messages: (model) => ({
    path: '/v1/messages',
    body: { model, stream: true, max_tokens: 100_000, messages: hi },
    end: 'message_stop',
  }),
  gemini: (model) => ({
    path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    end: '"finishReason":"STOP"',
  }),
}

let vendor: Bun.Server<unknown>

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        await request.text()
        const { pathname } = new URL(request.url)
        if (pathname.startsWith('/converse/')) {
          return new Response(Uint8Array.from(frames), { headers: { 'content-type': AWS_EVENT_STREAM } })
        }
        const dialect = dialects.find((one) => pathname.startsWith(`/${one}/`)) ?? 'chat'
        const events = streams[dialect].map((event) => `data: ${JSON.stringify(event)}\n\n`)
        const end = dialect === 'chat' ? 'data: [DONE]\n\n' : ''
        return new Response(events.join('') + end, { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    const presets: Readonly<Record<Upstream, string>> = {
      chat: 'custom',
      responses: 'custom-responses',
      messages: 'anthropic',
      gemini: 'gemini',
      converse: 'bedrock-converse',
    }
    const base = `http://127.0.0.1:${vendor.port}`
    const providers = upstreams.map(
      (one) => `  ${one}: { preset: ${presets[one]}, base_url: '${base}/${one}/v1', key: k, allow_private: true }`,
    )
    const models = upstreams.map(
      (one) =>
        `  ${one}: { price: { input: 1, output: 2 }, output_tokens_max: 100000, offers: [{ provider: ${one}, model: up }] }`,
    )
    return {
      yaml: `sandbox: false\nproviders:\n${providers.join('\n')}\nmodels:\n${models.join('\n')}\n`,
    }
  },
  () => vendor.stop(true),
)

const ways = dialects.flatMap((client) => upstreams.map((upstream): [Dialect, Upstream] => [client, upstream]))

describe.each(ways)('to a client of %s from a vendor of %s', (client, upstream) => {
  test('an event of megabytes comes whole, and the answer to its end', async () => {
    const { path, body, end } = requests[client](upstream)
    const answer = await fetch(new URL(path, gateway.baseUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'x-goog-api-key': gateway.key,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    expect([answer.status, text.length > WORDS.length, text.includes(WORDS), text.includes(end)]).toEqual([
      200,
      true,
      true,
      true,
    ])
  })
})
