import { describe, expect, test } from 'bun:test'
import { createVendor } from './server.ts'

const vendor = createVendor({})

type ReadAnswer = { status: number; text: string; tookMs: number; longestMs: number }

/** Sends a request, and measures the longest block of the thread meanwhile. */
async function ask(path: string, body: object, headers: object = {}): Promise<ReadAnswer> {
  const text = JSON.stringify(body)
  const request = new Request(`http://sandbox${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': String(text.length), ...headers },
    body: text,
  })
  const startedMs = performance.now()
  let [lastMs, longestMs] = [startedMs, 0]
  const tick = (): void => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  }
  const ticking = setInterval(tick, 1)
  const answer = await vendor.answer(request)
  const got = { status: answer.status, text: await answer.text() }
  tick()
  clearInterval(ticking)
  return { ...got, tookMs: performance.now() - startedMs, longestMs }
}

const long = 'lighthouse '.repeat(200_000)
const anthropic = { 'anthropic-version': '2023-06-01' }
const user = (content: unknown): object => ({ role: 'user', content })

describe('a request longer than any context is refused before it is read', () => {
  test.each([
    ['/v1/chat/completions', { model: 'sandbox-mini', messages: [user(long)] }, '"code":"context_length_exceeded"'],
    ['/v1/chat/completions', { model: 'sandbox-mini', messages: [user('x')], tools: [{ long }] }, 'context_length'],
    ['/v1/embeddings', { model: 'sandbox-embedding', input: [long] }, 'context_length_exceeded'],
    ['/v1/embeddings', { model: 'sandbox-embedding', input: Array(400_000).fill(1) }, 'context_length_exceeded'],
    ['/v1/messages', { model: 'sandbox-chat', max_tokens: 9, messages: [user(long)] }, '"invalid_request_error"'],
    ['/v1/messages/count_tokens', { model: 'sandbox-chat', messages: [user(long)] }, '"invalid_request_error"'],
    [
      '/v1beta/models/sandbox-chat:generateContent',
      { contents: [{ role: 'user', parts: [{ text: long }] }] },
      'INVALID_ARGUMENT',
    ],
  ])('%s', async (path, body, words) => {
    const { status, text } = await ask(path, body, anthropic)
    expect([status, text]).toEqual([400, expect.stringContaining(words) as string])
    expect(text).toMatch(/longer than any context/)
  })

  test('pictures are not text', async () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(2_000_000)}` } }
    const body = { model: 'sandbox-chat', messages: [user([image, { type: 'text', text: 'What is it?' }])] }
    expect((await ask('/v1/chat/completions', body)).status).toBe(200)
  })

  test('a body with an enormous declared length is not parsed', async () => {
    const headers = { 'content-length': '30000000' }
    const { status, text } = await ask('/v1/chat/completions', {}, headers)
    expect([status, text]).toEqual([400, expect.stringContaining('context_length_exceeded') as string])
  })
})

test('the model limits each text of a batch', async () => {
  const { status, text } = await ask('/v1/embeddings', {
    model: 'sandbox-embedding',
    input: ['a', 'so '.repeat(8_193)],
  })
  expect([status, text]).toEqual([400, expect.stringContaining('8192 tokens, however you requested') as string])
})

test('a large batch lets other requests run', async () => {
  const input = Array.from({ length: 500 }, (_, i) => `The lighthouse keeper counts ships, the ${i}th of them too.`)
  const body = { model: 'sandbox-embedding-small', input, encoding_format: 'base64' }
  const { status, text, tookMs, longestMs } = await ask('/v1/embeddings', body)
  expect(status).toBe(200)
  expect((JSON.parse(text) as { data: object[] }).data).toHaveLength(500)
  expect(tookMs).toBeGreaterThan(40)
  expect(longestMs).toBeLessThan(tookMs / 3)
})
