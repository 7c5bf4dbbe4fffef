/**
 * Numbers in tool arguments, tool results and schemas keep their source text, for clients and vendors of all dialects,
 * whole and streamed, and in stored turns.
 */
import { describe, expect, test } from 'bun:test'
import { SseDecoder } from '../../src/lib/http/sse.ts'
import { useGateway } from '../support/use-gateway.ts'

const dialects = ['chat', 'responses', 'messages', 'gemini'] as const
type Dialect = (typeof dialects)[number]

const ARGUMENTS = '{"id":12345678901234567890,"at":1.0,"many":[1e3,-0,0.10],"deep":{"x":9007199254740993}}'
const RESULT = '{"next":98765432109876543210,"rate":2.50}'
const LIMITS = '"minimum":1.0,"maximum":98765432109876543210'
const SCHEMA = `{"type":"object","properties":{"id":{"type":"integer",${LIMITS}}}}`

/** What was sent last. A text in JSON has quotes of its own. */
let asked = ''
const heard = (): string => asked.replaceAll('\\"', '"')

const quoted = JSON.stringify(ARGUMENTS)
const sse = (...events: string[]): Response =>
  new Response(events.map((data) => `data: ${data}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } })
const json = (text: string): Response => new Response(text, { headers: { 'content-type': 'application/json' } })

const geminiReply = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
const item = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":${quoted},"status":"completed"}`
const response = `{"id":"resp_1","object":"response","status":"completed","model":"up","output":[${item}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`
const call = `{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":${quoted}}}`
const message = `{"id":"msg_1","type":"message","role":"assistant","model":"up","content":[{"type":"tool_use","id":"call_1","name":"f","input":${ARGUMENTS}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

/** Each vendor calls the tool, whatever it is asked. */
const vendors: Readonly<Record<Dialect, { whole: () => Response; stream: () => Response }>> = {
  chat: {
    whole: () =>
      json(
        `{"id":"c","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[${call}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
      ),
    stream: () =>
      sse(
        `{"id":"c","object":"chat.completion.chunk","created":1,"model":"up","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[${call}]},"finish_reason":null}]}`,
        `{"id":"c","object":"chat.completion.chunk","created":1,"model":"up","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
        '[DONE]',
      ),
  },
  responses: {
    whole: () => json(response),
    stream: () =>
      sse(
        `{"type":"response.output_item.added","output_index":0,"item":${item.replace(quoted, '""')}}`,
        `{"type":"response.function_call_arguments.delta","output_index":0,"delta":${quoted}}`,
        `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
        `{"type":"response.completed","response":${response}}`,
      ),
  },
  messages: {
    whole: () => json(message),
    stream: () =>
      sse(
        `{"type":"message_start","message":${message.replace(/"content":\[.*\],"stop_reason":"tool_use"/, '"content":[],"stop_reason":null')}}`,
        '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"f","input":{}}}',
        `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${quoted}}}`,
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}}',
        '{"type":"message_stop"}',
      ),
  },
  gemini: { whole: () => json(geminiReply), stream: () => sse(geminiReply) },
}

const dialectOf = (path: string): Dialect =>
  path.includes('generateContent') || path.includes('streamGenerateContent')
    ? 'gemini'
    : path.endsWith('/messages')
      ? 'messages'
      : path.endsWith('/responses')
        ? 'responses'
        : 'chat'

/** A second turn in each dialect, as JSON text: the call, its result, and the tool. */
const requests: Readonly<Record<Dialect, (model: string, stream: boolean) => { path: string; body: string }>> = {
  chat: (model, stream) => ({
    path: '/v1/chat/completions',
    body: `{"model":"${model}","stream":${stream},"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"call_1","content":${JSON.stringify(RESULT)}}],"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]}`,
  }),
  responses: (model, stream) => ({
    path: '/v1/responses',
    body: `{"model":"${model}","stream":${stream},"input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"call_1","name":"f","arguments":${quoted}},{"type":"function_call_output","call_id":"call_1","output":${JSON.stringify(RESULT)}}],"tools":[{"type":"function","name":"f","parameters":${SCHEMA}}]}`,
  }),
  messages: (model, stream) => ({
    path: '/v1/messages',
    body: `{"model":"${model}","stream":${stream},"max_tokens":500,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":${ARGUMENTS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":${JSON.stringify(RESULT)}}]}],"tools":[{"name":"f","input_schema":${SCHEMA}}]}`,
  }),
  gemini: (model, stream) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":${RESULT}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${SCHEMA}}]}]}`,
  }),
}

/** The text of arguments in an answer, joined where it came in pieces. */
function argumentsIn(text: string, client: Dialect, stream: boolean): string {
  const body = stream ? joined(text, client) : text
  return body.replaceAll('\\"', '"')
}

function joined(text: string, client: Dialect): string {
  if (client === 'gemini') return text
  const events = new SseDecoder(1_000_000).push(Buffer.from(text)).filter(({ data }) => data.startsWith('{'))
  const values = events.map(({ data }) => JSON.parse(data))
  const pieces = values.map((event) => {
    if (client === 'messages') return event.delta?.partial_json ?? ''
    if (client === 'responses') return event.type === 'response.function_call_arguments.delta' ? event.delta : ''
    return event.choices[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? ''
  })
  return pieces.join('')
}

let vendor: Bun.Server<unknown>

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        asked = await request.text()
        const { pathname } = new URL(request.url)
        const { whole, stream } = vendors[dialectOf(pathname)]
        return asked.includes('"stream":true') || pathname.includes('stream') ? stream() : whole()
      },
    })
    const presets = { chat: 'custom', responses: 'custom-responses', messages: 'anthropic', gemini: 'gemini' }
    const base = `http://127.0.0.1:${vendor.port}`
    const providers = dialects.map(
      (one) => `  ${one}: { preset: ${presets[one]}, base_url: '${base}/v1', key: k, allow_private: true }`,
    )
    const models = dialects.map(
      (one) => `  ${one}: { price: { input: 1, output: 2 }, offers: [{ provider: ${one}, model: up }] }`,
    )
    return {
      yaml: `sandbox: false\nproviders:\n${providers.join('\n')}\nmodels:\n${models.join('\n')}\n`,
    }
  },
  () => vendor.stop(true),
)

async function send(path: string, body: string): Promise<string> {
  const answer = await fetch(new URL(path, gateway.baseUrl), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.key}`,
      'x-goog-api-key': gateway.key,
      'content-type': 'application/json',
    },
    body,
  })
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, text])
  return text
}

const ways = dialects.flatMap((client) =>
  dialects.flatMap((upstream) =>
    [false, true].map((stream): [Dialect, Dialect, string] => [client, upstream, stream ? 'streamed' : 'whole']),
  ),
)

describe.each(ways)('a client of %s before a vendor of %s, %s', (client, upstream, how) => {
  test('sends and gets numbers as they stand', async () => {
    const stream = how === 'streamed'
    const { path, body } = requests[client](upstream, stream)
    const text = await send(path, body)
    expect(heard()).toContain(ARGUMENTS)
    expect(heard().replaceAll('\\"', '"')).toContain(RESULT)
    expect(heard()).toContain(LIMITS)
    expect(argumentsIn(text, client, stream)).toContain(ARGUMENTS)
  })
})

describe.each(dialects)('a turn that is kept, before a vendor of %s', (upstream) => {
  test.each(['whole', 'streamed'])('goes on with its numbers as they stood, %s', async (how) => {
    const stream = how === 'streamed'
    const tools = `"tools":[{"type":"function","name":"f","parameters":${SCHEMA}}]`
    const first = await send('/v1/responses', `{"model":"${upstream}","stream":${stream},"input":"go",${tools}}`)
    const id = /"id":"(resp_\w+)"/.exec(first)?.[1]
    const output = `{"type":"function_call_output","call_id":"call_1","output":${JSON.stringify(RESULT)}}`
    const callId = /"call_id":"([^"]+)"/.exec(first)?.[1] ?? ''
    const next = output.replace('call_1', callId)
    await send('/v1/responses', `{"model":"${upstream}","previous_response_id":"${id}","input":[${next}],${tools}}`)
    expect(heard()).toContain(ARGUMENTS)
    expect(heard()).toContain(RESULT)
    const kept = await fetch(new URL(`/v1/responses/${id}`, gateway.baseUrl), {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    const shown = (await kept.text()).replaceAll('\\"', '"')
    expect(shown).toContain(ARGUMENTS)
    expect(shown).toContain(LIMITS)
  })
})
