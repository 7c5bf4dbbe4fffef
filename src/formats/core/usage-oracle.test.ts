/** Compares our readers of vendors’ usages with the price list’s own extractor, and both with a table made by hand. */
import { extractUsage, findProvider } from '@pydantic/genai-prices'
import { expect, test } from 'bun:test'
import { inputTokens, outputTokens, type Usage } from '../../domain/usage.ts'
import { readChatUsage } from './openai-usage.ts'
import { readGeminiUsage } from '../gemini/usage.ts'
import { readMessagesUsage } from '../messages/usage.ts'
import { readResponsesUsage } from '../responses/usage.ts'

type Totals = { readonly input: number; readonly cached: number; readonly written: number; readonly output: number }

const ours = (usage: Usage | undefined): Totals | undefined =>
  usage && {
    input: inputTokens(usage),
    cached: usage.inputCached,
    written: usage.cacheWrite5m + usage.cacheWrite1h,
    output: outputTokens(usage),
  }

type ReceivedBody = { readonly vendor: string; readonly flavor: string }

function theirs({ vendor, flavor }: ReceivedBody, answer: object): Totals {
  const provider = findProvider({ providerId: vendor })
  if (!provider) throw new Error(`${vendor} is not in the list`)
  const { usage } = extractUsage(provider, answer, flavor)
  const count = (name: string): number => Number((usage as Readonly<Record<string, unknown>>)[name] ?? 0)
  return {
    input: count('input_tokens'),
    cached: count('cache_read_tokens'),
    written: count('cache_write_tokens'),
    output: count('output_tokens'),
  }
}

test('chat: the totals include cached and reasoning tokens', () => {
  const usage = {
    prompt_tokens: 1_000,
    completion_tokens: 300,
    total_tokens: 1_300,
    prompt_tokens_details: { cached_tokens: 640, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 128 },
  }
  const table = { input: 1_000, cached: 640, written: 0, output: 300 }
  expect(ours(readChatUsage(usage))).toEqual(table)
  expect(theirs({ vendor: 'openai', flavor: 'chat' }, { model: 'gpt-5', usage })).toEqual(table)
})

test('responses: the same with other names', () => {
  const usage = {
    input_tokens: 2_000,
    input_tokens_details: { cached_tokens: 1_500 },
    output_tokens: 90,
    output_tokens_details: { reasoning_tokens: 64 },
    total_tokens: 2_090,
  }
  const table = { input: 2_000, cached: 1_500, written: 0, output: 90 }
  expect(ours(readResponsesUsage(usage))).toEqual(table)
  expect(theirs({ vendor: 'openai', flavor: 'responses' }, { model: 'gpt-5', usage })).toEqual(table)
})

test('messages: cached and written tokens are added to the input', () => {
  const usage = {
    input_tokens: 12,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 900,
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    output_tokens: 84,
  }
  const table = { input: 1_212, cached: 900, written: 300, output: 84 }
  expect(ours(readMessagesUsage(usage))).toEqual(table)
  expect(theirs({ vendor: 'anthropic', flavor: 'default' }, { model: 'claude-sonnet-4-5', usage })).toEqual(table)
})

test('gemini: thoughts are added to the candidates', () => {
  const usageMetadata = {
    promptTokenCount: 500,
    cachedContentTokenCount: 100,
    candidatesTokenCount: 40,
    thoughtsTokenCount: 60,
    totalTokenCount: 600,
  }
  const table = { input: 500, cached: 100, written: 0, output: 100 }
  expect(ours(readGeminiUsage(usageMetadata))).toEqual(table)
  expect(theirs({ vendor: 'google', flavor: 'default' }, { modelVersion: 'gemini-2.5-pro', usageMetadata })).toEqual(
    table,
  )
})
