import { expect, test } from 'bun:test'
import { inputTokens, outputTokens } from '../../domain/usage.ts'
import { correctedUsage, readChatUsage, writeChatUsage } from './openai-usage.ts'

test('cached and reasoning tokens are taken out of the totals that include them', () => {
  const usage = readChatUsage({
    prompt_tokens: 912,
    completion_tokens: 84,
    total_tokens: 996,
    prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 64 },
  })
  expect(usage).toEqual({
    inputFresh: 12,
    inputCached: 900,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    outputText: 20,
    outputReasoning: 64,
  })
})

test('a vendor that counts reasoning separately is read that way', () => {
  const raw = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 22,
    completion_tokens_details: { reasoning_tokens: 7 },
  }
  const usage = readChatUsage(raw, 'reasoning_apart')
  expect(usage && outputTokens(usage)).toBe(12)
  expect(JSON.parse(usage ? (correctedUsage(raw, usage) ?? '') : '')).toMatchObject({
    completion_tokens: 12,
    total_tokens: 22,
  })
})

test('explicit zeros are zeros, and a missing or absurd count is unknown', () => {
  expect(readChatUsage({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject({ inputFresh: 0, outputText: 0 })
  for (const raw of [
    undefined,
    null,
    {},
    { prompt_tokens: 5 },
    { prompt_tokens: -1, completion_tokens: 1 },
    { prompt_tokens: 1.5, completion_tokens: 1 },
  ]) {
    expect(readChatUsage(raw)).toBeUndefined()
  }
})

test('details never exceed their total', () => {
  const usage = readChatUsage({
    prompt_tokens: 10,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: 50 },
    completion_tokens_details: { reasoning_tokens: 9 },
  })
  expect(usage && [inputTokens(usage), outputTokens(usage)]).toEqual([10, 3])
})

test('a usage with correct sums stays unchanged, and a written one reads back the same', () => {
  const raw = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, extra: 1 }
  const usage = readChatUsage(raw)
  if (!usage) throw new Error('unread')
  expect(correctedUsage(raw, usage)).toBeUndefined()
  expect(JSON.parse(correctedUsage({ ...raw, total_tokens: 9 }, usage) ?? '')).toEqual(raw)
  expect(readChatUsage(JSON.parse(writeChatUsage(usage)))).toEqual(usage)
})
