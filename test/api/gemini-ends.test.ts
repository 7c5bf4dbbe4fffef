/**
 * Gemini answers that end without content: the next offer is tried. Without another offer the client gets an error, and
 * nothing is charged.
 */
import { describe, expect, test } from 'bun:test'
import { useGateway } from '../support/use-gateway.ts'

const usageMetadata = { promptTokenCount: 10, totalTokenCount: 10 }
const signature = { text: '', thoughtSignature: 'AAAA' }
const answers: Readonly<Record<string, readonly object[]>> = {
  malformed: [{ content: { role: 'model', parts: [signature] } }, { finishReason: 'MALFORMED_FUNCTION_CALL' }],
  silent: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
  well: [{ content: { role: 'model', parts: [{ text: 'Well.' }] } }, { finishReason: 'STOP' }],
}
let vendor: Bun.Server<undefined>

const gateway = useGateway(
  () => {
    vendor = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname } = new URL(request.url)
        const [, model = '', action] = /models\/([^:]+):(\w+)$/.exec(pathname) ?? []
        const events = (answers[model] ?? answers['well'] ?? []).map((one) => ({ candidates: [one], usageMetadata }))
        if (action === 'streamGenerateContent') {
          const text = events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')
          return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
        }
        return Response.json({
          candidates: [Object.assign({}, ...(answers[model] ?? answers['well'] ?? []))],
          usageMetadata,
        })
      },
    })
    const at = `base_url: '${vendor.url.origin}/v1beta', allow_private: true, key: k`
    const models = ['malformed', 'silent'].flatMap((one) => [
      `  ${one}: { price: { input: 1, output: 2 }, offers: [{ provider: first, model: ${one} }] }`,
      `  ${one}-then-well: { price: { input: 1, output: 2 }, offers: [{ provider: first, model: ${one} }, { provider: second, model: well, priority: 1 }] }`,
    ])
    return {
      yaml: [
        'sandbox: false',
        'providers:',
        `  first: { preset: gemini, ${at} }`,
        `  second: { preset: gemini, ${at} }`,
        'models:',
        ...models,
      ].join('\n'),
    }
  },
  () => vendor.stop(true),
)

const headers = (): Record<string, string> => ({
  authorization: `Bearer ${gateway.key}`,
  'x-goog-api-key': gateway.key,
  'content-type': 'application/json',
})
const post = (path: string, body: object): Promise<Response> =>
  fetch(new URL(gateway.baseUrl).origin + path, { method: 'POST', headers: headers(), body: JSON.stringify(body) })
const balance = async (): Promise<unknown> =>
  ((await (await fetch(`${gateway.baseUrl}/balance`, { headers: headers() })).json()) as { posted: unknown }).posted

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const clients: Readonly<Record<string, (model: string) => Promise<Response>>> = {
  chat: (model) => post('/v1/chat/completions', { model, messages }),
  'chat, streamed': (model) => post('/v1/chat/completions', { model, messages, stream: true }),
  messages: (model) => post('/v1/messages', { model, messages, max_tokens: 50 }),
  'messages, streamed': (model) => post('/v1/messages', { model, messages, max_tokens: 50, stream: true }),
  responses: (model) => post('/v1/responses', { model, input: 'Hi' }),
  'responses, streamed': (model) => post('/v1/responses', { model, input: 'Hi', stream: true }),
  gemini: (model) => post(`/v1beta/models/${model}:generateContent`, { contents }),
  'gemini, streamed': (model) => post(`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents }),
}

describe.each(Object.entries(clients))('%s', (_, ask) => {
  test.each(['malformed', 'silent'])('an end that is %s: the next offer answers', async (model) => {
    const answer = await ask(`${model}-then-well`)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Well.') as string])
  })

  test.each(['malformed', 'silent'])(
    'an end that is %s, and no other offer: an error, and nothing is charged',
    async (model) => {
      const before = await balance()
      expect((await ask(model)).status).toBe(502)
      expect(await balance()).toEqual(before)
    },
  )
})

test('no offer is rested for what prompts can bring about', async () => {
  const body = { model: 'silent-then-well', messages }
  // More often than an offer may fail in a row: one that rested would not be asked first.
  for (let i = 0; i < 7; i++) {
    expect((await post('/v1/chat/completions', body)).headers.get('x-tollgate-attempts')).toBe('2')
  }
})
