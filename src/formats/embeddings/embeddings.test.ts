import { expect, test } from 'bun:test'
import type { Destination } from '../core/contract.ts'
import { EmbeddingAdapter } from './adapter.ts'
import { readEmbeddingClient } from './request.ts'
import { geminiEmbeddings, openaiEmbeddings } from './upstream.ts'
import { rewritten } from './vector.ts'

const to = { upstreamModel: 'gemini-embedding-001', outputTokensMax: 0, quirks: {} } as unknown as Destination
const facts = { requestId: 'req_1', createdAtMs: 0, publicModel: 'public' }
const body = (inputs: string[], dimensions?: number) =>
  ({ client: 'openai', model: 'm', inputs, encoding: 'float', dimensions, others: {} }) as const

test('inputs take as many exchanges as the upstream needs, and come back in order', async () => {
  const inputs = Array.from({ length: 250 }, (_, i) => `text ${i}`)
  const adapter = new EmbeddingAdapter(body(inputs, 2), geminiEmbeddings)
  const parts = adapter
    .split(to)
    .map(({ path, body: text }) => ({ path, body: JSON.parse(text) as { requests: object[] } }))
  expect(parts.map(({ path, body: { requests } }) => [path, requests.length])).toEqual(
    [100, 100, 50].map((count) => ['/models/gemini-embedding-001:batchEmbedContents', count]),
  )
  expect(parts[2]?.body.requests[49]).toEqual({
    model: 'models/gemini-embedding-001',
    content: { parts: [{ text: 'text 249' }] },
    outputDimensionality: 2,
  })
  const answers = parts.map(({ body: { requests } }, part) =>
    JSON.stringify({ embeddings: requests.map((_, i) => ({ values: [part * 100 + i + 1, 0] })) }),
  )
  const read = await adapter.join(answers)
  if (read.kind === 'failed') throw new Error(read.failure.message)
  expect(read.reply.usage).toBeUndefined()
  const counted = { inputFresh: 9, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 0, outputReasoning: 0 }
  const reply = JSON.parse(read.reply.write(facts, counted)) as {
    data: { index: number; embedding: number[] }[]
    usage: object
  }
  expect(reply.data.map(({ index }) => index)).toEqual(inputs.map((_, i) => i))
  // Shortened vectors are scaled to unit length.
  expect(reply.data[249]?.embedding).toEqual([1, 0])
  expect(reply.usage).toEqual({ prompt_tokens: 9, total_tokens: 9 })
})

test('without the usage of one part the whole has none', async () => {
  const inputs = Array.from({ length: 2_049 }, () => 'x')
  const adapter = new EmbeddingAdapter(body(inputs), openaiEmbeddings)
  const answer = (count: number, usage?: object): string =>
    JSON.stringify({ data: Array.from({ length: count }, (_, index) => ({ index, embedding: [1] })), usage })
  const with_ = await adapter.join([answer(2_048, { prompt_tokens: 5 }), answer(1, { prompt_tokens: 2 })])
  expect(with_.kind === 'reply' && with_.reply.usage?.inputFresh).toBe(7)
  for (const none of [undefined, { prompt_tokens: 0, total_tokens: 0 }]) {
    const without = await adapter.join([answer(2_048, { prompt_tokens: 5 }), answer(1, none)])
    expect(without.kind === 'reply' && without.reply.usage).toBeUndefined()
  }
})

test('Gemini takes no token numbers', () => {
  const adapter = new EmbeddingAdapter({ ...body([]), inputs: [[1, 2]] }, geminiEmbeddings)
  expect(adapter.obstacle).toMatchObject({ param: 'input' })
})

test('vectors survive both forms, and anything else is no vector', () => {
  const numbers = [0.1, -2.5, 3e-9].map(Math.fround)
  const packed = rewritten(numbers, 'base64', undefined)
  expect(packed).toBe(Buffer.from(Float32Array.from(numbers).buffer).toString('base64'))
  expect(rewritten(packed, 'float', undefined)).toEqual(numbers)
  // A vector in the requested form is not changed.
  expect(rewritten(packed, 'base64', undefined)).toBe(packed)
  expect(rewritten([0.1234567890123456], 'float', undefined)).toEqual([0.1234567890123456])
  const none = [[], ['a'], [Number.NaN], 'AAA', 'AAAA', '', '====', null, [1, null], {}]
  for (const value of none)
    for (const form of ['float', 'base64'] as const) expect(rewritten(value, form, undefined)).toBeUndefined()
  const nan = Buffer.from(Float32Array.from([Number.NaN]).buffer).toString('base64')
  expect(rewritten(nan, 'float', undefined)).toBeUndefined()
  expect(Math.hypot(...(rewritten([3, 4, 12], 'float', 2) as number[]))).toBeCloseTo(1, 6)
})

test('a large reply is read on another thread with the same result', async () => {
  const inputs = Array.from({ length: 600 }, (_, i) => `text ${i}`)
  const adapter = new EmbeddingAdapter(body(inputs), openaiEmbeddings)
  const embedding = Array.from({ length: 256 }, (_, i) => i / 256)
  const reply = JSON.stringify({ data: inputs.map((_, index) => ({ index, embedding })), usage: { prompt_tokens: 9 } })
  expect(reply.length).toBeGreaterThan(256 * 1024)
  const read = await adapter.join([reply])
  if (read.kind === 'failed') throw new Error(read.failure.message)
  const written = JSON.parse(read.reply.write(facts, read.reply.usage as never)) as {
    data: { embedding: number[] }[]
    usage: object
  }
  expect(written.data[599]?.embedding).toEqual(embedding)
  expect(written.usage).toEqual({ prompt_tokens: 9, total_tokens: 9 })
})

test('400,000 token numbers are read, and a depth bomb is not', () => {
  const input = Array.from({ length: 100 }, () => Array.from({ length: 3_900 }, () => 7))
  expect(readEmbeddingClient(JSON.stringify({ model: 'm', input })).kind).toBe('read')
  expect(readEmbeddingClient(`{"model":"m","input":${'['.repeat(100)}${']'.repeat(100)}}`).kind).toBe('rejected')
})
