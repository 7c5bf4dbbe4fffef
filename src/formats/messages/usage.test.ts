import { expect, test } from 'bun:test'
import { priceOf, unitPrices } from '../../domain/price.ts'
import type { Usage } from '../../domain/usage.ts'
import { mergeUsage, readMessagesUsage, writeMessagesUsage } from './usage.ts'

const buckets = (rest: Partial<Usage>): Usage => ({
  inputFresh: 0,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 0,
  outputReasoning: 0,
  ...rest,
})

test('input tokens exclude the cache, output tokens include thinking, and each token is in one bucket', () => {
  const raw = {
    input_tokens: 12,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 900,
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    output_tokens: 84,
    output_tokens_details: { thinking_tokens: 64 },
    server_tool_use: null,
    service_tier: 'standard',
  }
  const usage = readMessagesUsage(raw)
  expect(usage).toEqual({
    inputFresh: 12,
    inputCached: 900,
    cacheWrite5m: 100,
    cacheWrite1h: 200,
    outputText: 20,
    outputReasoning: 64,
  })
  // By hand: 12×3 + 900×0.3 + 100×3.75 + 200×6 + 20×15 + 64×15 dollars a million, in nano-dollars.
  const usd = (dollars: number): bigint => BigInt(dollars * 1e9)
  const prices = { input: usd(3), output: usd(15), cachedInput: usd(0.3), cacheWrite: usd(3.75), cacheWrite1h: usd(6) }
  const card = { id: 1, effectiveFromMs: 0, nanoPerMillion: unitPrices(prices) }
  expect(priceOf(usage ?? buckets({}), card)).toBe(3_141_000n)
})

test('writes without terms are the short ones, and terms without a sum give the sum', () => {
  const base = { input_tokens: 1, output_tokens: 1 }
  expect(readMessagesUsage({ ...base, cache_creation_input_tokens: 7 })).toMatchObject({ cacheWrite5m: 7 })
  const terms = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 }
  expect(readMessagesUsage({ ...base, cache_creation: terms })).toMatchObject({ cacheWrite5m: 3, cacheWrite1h: 4 })
  const less = { ...base, cache_creation_input_tokens: 2, cache_creation: { ephemeral_1h_input_tokens: 5 } }
  expect(readMessagesUsage(less)).toMatchObject({ cacheWrite5m: 0, cacheWrite1h: 2 })
})

test('all iterations together are the bill', () => {
  const raw = {
    input_tokens: 10,
    output_tokens: 5,
    output_tokens_details: { thinking_tokens: 2 },
    iterations: [
      { type: 'compaction', input_tokens: 1_000, output_tokens: 50 },
      { type: 'message', input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3 },
    ],
  }
  const all = buckets({ inputFresh: 1_010, inputCached: 3, outputText: 53, outputReasoning: 2 })
  expect(readMessagesUsage(raw)).toEqual(all)
  expect(readMessagesUsage({ ...raw, iterations: [null] })).toMatchObject({ inputFresh: 10, outputText: 3 })
})

test('explicit zeros are zeros, and a missing or absurd count is unknown', () => {
  expect(readMessagesUsage({ input_tokens: 0, output_tokens: 0 })).toEqual(buckets({}))
  const unknown = [undefined, null, {}, { input_tokens: 5 }, { output_tokens: 5 }, 'x', []]
  for (const raw of [...unknown, { input_tokens: -1, output_tokens: 1 }, { input_tokens: 1, output_tokens: 1.5 }]) {
    expect(readMessagesUsage(raw)).toBeUndefined()
  }
})

test('running totals overwrite, and null is ignored', () => {
  const start = mergeUsage(undefined, { input_tokens: 12, cache_read_input_tokens: 900, output_tokens: 1 })
  const end = mergeUsage(start, { input_tokens: 13, cache_read_input_tokens: null, output_tokens: 41 })
  expect(readMessagesUsage(end)).toEqual(buckets({ inputFresh: 13, inputCached: 900, outputText: 41 }))
  expect(mergeUsage(undefined, undefined)).toBeUndefined()
  expect(mergeUsage(start, null)).toBe(start)
})

test('a written usage reads back the same', () => {
  const usage = readMessagesUsage({ input_tokens: 3, output_tokens: 4, cache_creation_input_tokens: 5 })
  expect(usage && readMessagesUsage(writeMessagesUsage(usage))).toEqual(usage)
})
