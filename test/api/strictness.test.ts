/** Nearly valid requests are refused, in the words and the envelope of their dialect. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let origin: string
beforeAll(async () => {
  gateway = await startGateway({})
  ;({ origin } = new URL(gateway.baseUrl))
}, 30_000)
afterAll(() => gateway.close())

const ask = (path: string, { method = 'POST', body = '{}', headers = {} }: Ask = {}): Promise<Response> =>
  fetch(origin + path, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    ...(method === 'POST' || method === 'PUT' ? { body } : {}),
  })
type Ask = { readonly method?: string; readonly body?: string; readonly headers?: Record<string, string> }

test('a key with anything behind it is none', async () => {
  for (const authorization of [`Bearer ${gateway.key} junk`, `Bearer ${gateway.key}, Bearer x`]) {
    expect((await ask('/v1/models', { method: 'GET', headers: { authorization } })).status).toBe(401)
  }
})

describe('media that a request is to carry itself', () => {
  const address = ' http://10.0.0.1/secret'
  const model = 'sandbox-chat'
  const chat = (part: object) =>
    ['/v1/chat/completions', { model, messages: [{ role: 'user', content: [part] }] }] as const
  const input = (part: object) => ['/v1/responses', { model, input: [{ role: 'user', content: [part] }] }] as const
  const messages = (block: object) =>
    ['/v1/messages', { model, max_tokens: 9, messages: [{ role: 'user', content: [block] }] }] as const
  const gemini = (part: object) =>
    [`/v1beta/models/${model}:generateContent`, { contents: [{ role: 'user', parts: [part] }] }] as const
  const source = { type: 'base64', media_type: 'application/pdf', data: address }

  test.each([
    chat({ type: 'file', file: { filename: 'a.pdf', file_data: address } }),
    chat({ type: 'input_audio', input_audio: { data: address, format: 'wav' } }),
    chat({ type: 'image_url', image_url: { url: address } }),
    input({ type: 'input_file', filename: 'a.pdf', file_data: address }),
    input({ type: 'input_audio', input_audio: { data: address, format: 'wav' } }),
    input({ type: 'input_image', image_url: address }),
    messages({ type: 'document', source }),
    messages({ type: 'image', source: { ...source, media_type: 'image/png' } }),
    messages({ type: 'image', source: { type: 'url', url: address } }),
    messages({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'document', source }] }),
    gemini({ inlineData: { mimeType: 'application/pdf', data: address } }),
    gemini({ inline_data: { mime_type: 'image/png', data: address } }),
    gemini({ fileData: { mimeType: 'image/png', fileUri: address } }),
    gemini({
      functionResponse: { name: 'f', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: address } }] },
    }),
  ])('is no address behind a blank: %#', async (path, body) => {
    const response = await ask(path, { body: JSON.stringify(body) })
    expect({ status: response.status, text: await response.text() }).toMatchObject({
      status: 400,
      text: expect.stringMatching(/base64|white space/),
    })
  })
})

test('every answer of the API says that it is what it says it is', async () => {
  const answers = await Promise.all([
    ask('/v1/models', { method: 'GET' }),
    ask('/v1/balance', { method: 'GET' }),
    ask('/v1/models', { method: 'GET', headers: { authorization: 'Bearer none' } }),
    ask('/v1/nothing'),
    ask('/v1/chat/completions', { method: 'GET' }),
    ask('/v1/chat/completions', { body: '{' }),
    ask('/v1/chat/completions', {
      body: '{"model":"sandbox-chat","stream":true,"messages":[{"role":"user","content":"hi"}]}',
    }),
    ask('/v1/messages', { body: '{' }),
    ask('/v1beta/models/sandbox-chat:generateContent', { body: '{"contents":[{"parts":[{"text":"hi"}]}]}' }),
  ])
  for (const answer of answers) {
    await answer.text()
    expect([answer.url, answer.headers.get('x-content-type-options')]).toEqual([answer.url, 'nosniff'])
  }
})
