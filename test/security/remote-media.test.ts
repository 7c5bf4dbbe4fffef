/**
 * Media that clients name and upstreams fetch. An upstream may be the operator's own, so only some addresses are passed
 * on.
 */
import { beforeEach, expect, test } from 'bun:test'
import { useGateway } from '../support/use-gateway.ts'
import { hostileUrls, hostileZones } from '../support/hostile-urls.ts'

/** Speaks no dialect, and remembers what it was sent. */
let vendor: Bun.Server<undefined>
const received: string[] = []

const presets = { chat: 'custom', responses: 'custom-responses', messages: 'anthropic', gemini: 'gemini' }
type Dialect = keyof typeof presets
const entries = Object.entries(presets)

const gateway = useGateway(
  async () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        received.push(await request.text())
        return Response.json({ error: { message: 'no' } }, { status: 500 })
      },
    })
    const at = `base_url: 'http://127.0.0.1:${String(vendor.port)}/v1', allow_private: true, key: k`
    return {
      yaml: `providers:
${entries.map(([name, preset]) => `  ${name}: { preset: ${preset}, ${at} }`).join('\n')}
models:
${entries.map(([name]) => `  ${name}: { price: { input: 1, output: 1 }, offers: [{ provider: ${name}, model: m }] }`).join('\n')}
`,
      env: { TOLLGATE_LOG: 'error' },
    }
  },
  () => vendor.stop(true),
)
beforeEach(() => void (received.length = 0))

const ask = (path: string, body: object): Promise<Response> =>
  fetch(new URL(path, gateway.baseUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Where a dialect has room for an address: its request, and the name of the field. */
type Place = readonly [dialect: Dialect, param: string, body: (url: string) => object]
const user = (...content: object[]): object => ({ messages: [{ role: 'user', content }] })
const text = { type: 'text', text: 'look' }
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
const image = (url: string): object => ({ type: 'image_url', image_url: { url } })
const source = (url: string): object => ({ type: 'image', source: { type: 'url', url } })
const file = (fileUri: string): object => ({ fileData: { mimeType: 'image/png', fileUri } })
const said = { parts: [{ text: 'look' }] }

const places: readonly Place[] = [
  ['chat', 'messages[0].content[1].image_url.url', (url) => user(text, image(url))],
  ['chat', 'messages[0].content[0].image_url', (url) => user({ type: 'image_url', image_url: url })],
  [
    'chat',
    'messages[1].content[0].image_url.url',
    (url) => ({
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [image(url)] },
      ],
    }),
  ],
  // Servers written in Go know their fields in any case.
  [
    'chat',
    'messages[0].content[0].image_url.URL',
    (url) => user({ type: 'image_url', image_url: { url: 'https://example.com/a.png', URL: url } }),
  ],
  [
    'chat',
    'messages[0].content[0].Image_Url.Url',
    (url) => user({ ...text, Type: 'image_url', Image_Url: { Url: url } }),
  ],
  ['responses', 'input[0].content[0].image_url', (url) => ({ input: [{ role: 'user', content: [picture(url)] }] })],
  ['responses', 'input[1].image_url', (url) => ({ input: [{ type: 'input_text', text: 'look' }, picture(url)] })],
  ['responses', 'input[0].image_url', (url) => ({ input: [{ ...picture(url), image_url: { url } }] })],
  [
    'responses',
    'input[1].output[0].image_url',
    (url) => ({ input: [call, { type: 'function_call_output', call_id: 'c', output: [picture(url)] }] }),
  ],
  ['messages', 'messages[0].content[1].source.url', (url) => user(text, source(url))],
  [
    'messages',
    'messages[0].content[0].content[1].source.url',
    (url) => user({ type: 'tool_result', tool_use_id: 't', content: [text, source(url)] }),
  ],
  [
    'messages',
    'messages[0].content[0].source.content[0].source.url',
    (url) => user({ type: 'document', source: { type: 'content', content: [source(url)] } }),
  ],
  ['messages', 'system[1].source.url', (url) => ({ ...user(text), system: [text, source(url)] })],
  ['gemini', 'contents[0].parts[1].fileData.fileUri', (url) => ({ contents: [{ parts: [{ text: 'x' }, file(url)] }] })],
  [
    'gemini',
    'contents[1].parts[0].fileData.fileUri',
    (url) => ({ contents: [said, { parts: [{ file_data: { mime_type: 'image/png', file_uri: url } }] }] }),
  ],
  [
    'gemini',
    'contents[0].parts[0].functionResponse.parts[0].fileData.fileUri',
    (url) => ({ contents: [{ parts: [{ functionResponse: { name: 'f', response: {}, parts: [file(url)] } }] }] }),
  ],
  [
    'gemini',
    'systemInstruction.parts[0].fileData.fileUri',
    (url) => ({ contents: [said], systemInstruction: { parts: [file(url)] } }),
  ],
]
function picture(url: string): object {
  return { type: 'input_image', image_url: url }
}

function send([dialect, , body]: Place, url: string): Promise<Response> {
  if (dialect === 'gemini') return ask('/v1beta/models/gemini:generateContent', body(url))
  const path = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' }[dialect]
  return ask(path, { model: dialect, ...(dialect === 'messages' && { max_tokens: 5 }), ...body(url) })
}

/** Only who resolves these names knows where they lead; data is no address. */
const isTold = (url: string): boolean =>
  !/^data:/i.test(url) && !Object.keys(hostileZones).some((name) => url.includes(`//${name}:`))
const hostile = [
  ...hostileUrls.filter(isTold),
  'http://redis:6379/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://printer.local/',
  '/etc/passwd',
  'iVBORw0KGgo=',
]

test.each(places)(
  '%s: %s leads nowhere inside',
  async (dialect, param, body) => {
    // The whole list at one place of chat and of Messages, a tenth of it at the others.
    const urls = param.startsWith('messages[0].content[1]') ? hostile : hostile.filter((_, i) => i % 10 === 0)
    for (const url of urls) {
      const response = await send([dialect, param, body], url)
      const { error } = (await response.json()) as { error: { message: string; param?: string; code?: unknown } }
      expect([url, response.status, error.message]).toEqual([url, 400, expect.stringContaining(`'${param}'`)])
      if (dialect === 'chat' || dialect === 'responses') expect(error).toMatchObject({ param, code: 'invalid_value' })
    }
    expect(received).toEqual([])
    expect(await gateway.operate<unknown[]>('request.list', { account: gateway.accountId })).toEqual([])
  },
  60_000,
)

const honest = [
  'https://example.com/a.png',
  'http://example.com:8080/a.png?x=1&y=http://127.0.0.1/',
  'https://files.internal.example.com/~me/a.png#b',
  'https://bücher.example/a.png',
  'http://1.2.3.4/a.png',
  'http://[2606:4700::1]/a.png',
]
const own = ['gs://bucket/a.png', 'https://generativelanguage.googleapis.com/v1beta/files/abc-123']
const direct = places.filter(([, param]) => /^(messages|contents)\[0\].*\[1\]|^input\[0\].content/.test(param))

test.each(direct)('%s: %s goes on as it came', async (dialect, param, body) => {
  const data = dialect === 'chat' || dialect === 'responses' ? ['data:image/png;base64,AA=='] : []
  for (const url of [...honest, ...(dialect === 'gemini' ? own : data)]) {
    received.length = 0
    const response = await send([dialect, param, body], url)
    expect([url, response.status >= 500]).toEqual([url, true])
    expect([url, received.some((sent) => sent.includes(JSON.stringify(url)))]).toEqual([url, true])
  }
})
