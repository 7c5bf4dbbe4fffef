/**
 * Every known shape of usage from vendors, with buckets and price worked out by hand. If the price list that many tools
 * share knows a shape, its reading is the oracle.
 */
import { describe, expect, test } from 'bun:test'
import { extractUsage, findProvider } from '@pydantic/genai-prices'
import { priceOf, unitPrices } from '../../src/domain/price.ts'
import { inputTokens, outputTokens, type Usage } from '../../src/domain/usage.ts'
import { readChatUsage } from '../../src/formats/core/openai-usage.ts'
import { readGeminiUsage } from '../../src/formats/gemini/usage.ts'
import { readMessagesUsage } from '../../src/formats/messages/usage.ts'
import { readResponsesUsage } from '../../src/formats/responses/usage.ts'

/** Dollars a million tokens, so nano-dollars a thousandth of a token: fresh 3, cached 0.3, writes 3.75 and 6, … */
const usd = (dollars: number): bigint => BigInt(dollars * 1e9)
const card = {
  id: 1,
  effectiveFromMs: 0,
  nanoPerMillion: unitPrices({
    input: usd(3),
    cachedInput: usd(0.3),
    cacheWrite: usd(3.75),
    cacheWrite1h: usd(6),
    output: usd(15),
    reasoning: usd(20),
    imageInput: usd(4),
    imageOutput: usd(40),
  }),
}

/** Fresh, cached, written for five minutes, for an hour; said, thought; images that came in, and that went out. */
type Buckets = readonly [number, number, number, number, number, number, (number | undefined)?, number?]
/** A provider of the price list and its dialect there; or why the list cannot be asked. */
type Oracle = { readonly provider: string; readonly flavor: string } | { readonly none: string }
type Row = readonly [name: string, raw: object, buckets: Buckets, nanoUsd: bigint, oracle: Oracle]
type Table = { readonly dialect: string; readonly read: (raw: object) => Usage | undefined; readonly rows: Row[] }

const openai = (flavor: string): Oracle => ({ provider: 'openai', flavor })
const anthropic: Oracle = { provider: 'anthropic', flavor: 'default' }
const google: Oracle = { provider: 'google', flavor: 'default' }

const full = {
  prompt_tokens: 1200,
  completion_tokens: 90,
  total_tokens: 1290,
  prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 50, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 40, accepted_prediction_tokens: 0 },
}
const chat: Row[] = [
  // 150×3000 + 1000×300 + 50×3750 + 50×15000 + 40×20000
  ['OpenAI, cached, written and reasoning inside', full, [150, 1000, 50, 0, 50, 40], 2_487_500n, openai('chat')],
  ['the least', { prompt_tokens: 10, completion_tokens: 5 }, [10, 0, 0, 0, 5, 0], 105_000n, openai('chat')],
  ['nothing', { prompt_tokens: 0, completion_tokens: 0 }, [0, 0, 0, 0, 0, 0], 0n, openai('chat')],
  [
    'images are part of the prompt',
    { prompt_tokens: 500, completion_tokens: 20, prompt_tokens_details: { image_tokens: 255, text_tokens: 245 } },
    [500, 0, 0, 0, 20, 0],
    1_800_000n,
    openai('chat'),
  ],
  [
    'DeepSeek, hits and misses',
    {
      prompt_tokens: 120,
      completion_tokens: 10,
      prompt_cache_hit_tokens: 100,
      prompt_cache_miss_tokens: 20,
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    // 20×3000 + 100×300 + 6×15000 + 4×20000
    [20, 100, 0, 0, 6, 4],
    260_000n,
    { none: 'the list reads only the details that newer answers add' },
  ],
  [
    'Moonshot, cached at the top',
    { prompt_tokens: 100, completion_tokens: 3, cached_tokens: 40 },
    [60, 40, 0, 0, 3, 0],
    237_000n,
    { provider: 'anthropic', flavor: 'chat' },
  ],
  [
    'Mistral, cached under a name of its own',
    { prompt_tokens: 100, completion_tokens: 10, num_cached_tokens: 64 },
    [36, 64, 0, 0, 10, 0],
    277_200n,
    { none: 'the list does not know the name' },
  ],
  [
    'Mistral, the details in the singular',
    { prompt_tokens: 100, completion_tokens: 10, prompt_token_details: { cached_tokens: 64 } },
    [36, 64, 0, 0, 10, 0],
    277_200n,
    { none: 'the list does not know the name' },
  ],
  [
    'Alibaba, written as Anthropic calls it',
    {
      prompt_tokens: 200,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 100, cache_creation_input_tokens: 50, cache_type: 'ephemeral' },
    },
    [50, 100, 50, 0, 10, 0],
    517_500n,
    { none: 'the list does not know the name' },
  ],
]

const apart: Row[] = [
  [
    'xAI',
    {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 341,
      prompt_tokens_details: { cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 300 },
    },
    // 26×3000 + 6×300 + 9×15000 + 300×20000
    [26, 6, 0, 0, 9, 300],
    6_214_800n,
    { provider: 'x-ai', flavor: 'chat' },
  ],
  [
    'Perplexity',
    { prompt_tokens: 14, completion_tokens: 100, reasoning_tokens: 20, total_tokens: 134 },
    [14, 0, 0, 0, 100, 20],
    1_942_000n,
    { provider: 'x-ai', flavor: 'default' },
  ],
]

const responses: Row[] = [
  [
    'cached, written, reasoning inside',
    {
      input_tokens: 1200,
      output_tokens: 90,
      total_tokens: 1290,
      input_tokens_details: { cached_tokens: 1000, cache_write_tokens: 50 },
      output_tokens_details: { reasoning_tokens: 40 },
    },
    [150, 1000, 50, 0, 50, 40],
    2_487_500n,
    openai('responses'),
  ],
  [
    'cut off in its thoughts',
    { input_tokens: 300, output_tokens: 300, output_tokens_details: { reasoning_tokens: 290 } },
    [300, 0, 0, 0, 10, 290],
    6_850_000n,
    openai('responses'),
  ],
]

const messages: Row[] = [
  [
    'cache outside the input, writes by their term, thoughts inside the output',
    {
      input_tokens: 150,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 20 },
      output_tokens: 90,
      output_tokens_details: { thinking_tokens: 40 },
    },
    // 150×3000 + 1000×300 + 30×3750 + 20×6000 + 50×15000 + 40×20000
    [150, 1000, 30, 20, 50, 40],
    2_532_500n,
    anthropic,
  ],
  [
    'writes without a term are the short ones',
    { input_tokens: 150, cache_creation_input_tokens: 50, output_tokens: 90 },
    [150, 0, 50, 0, 90, 0],
    1_987_500n,
    anthropic,
  ],
  [
    'several runs of the model are one bill',
    {
      input_tokens: 50,
      output_tokens: 5,
      iterations: [
        { type: 'compaction', input_tokens: 100, output_tokens: 10 },
        { type: 'message', input_tokens: 50, output_tokens: 5, cache_read_input_tokens: 20 },
      ],
    },
    [150, 20, 0, 0, 15, 0],
    681_000n,
    { none: 'the list reads the totals, which leave runs out' },
  ],
]

const gemini: Row[] = [
  [
    'cached inside the prompt, tools and thoughts on top',
    {
      promptTokenCount: 1200,
      cachedContentTokenCount: 1000,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 50,
      thoughtsTokenCount: 40,
      totalTokenCount: 1297,
    },
    // 207×3000 + 1000×300 + 50×15000 + 40×20000
    [207, 1000, 0, 0, 50, 40],
    2_471_000n,
    google,
  ],
  [
    'images are part of the prompt',
    {
      promptTokenCount: 300,
      candidatesTokenCount: 20,
      totalTokenCount: 320,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 42 },
        { modality: 'IMAGE', tokenCount: 258 },
      ],
    },
    // 42×3000 + 258×4000 + 20×15000
    [42, 0, 0, 0, 20, 0, 258],
    1_458_000n,
    google,
  ],
  [
    'images that were cached are cached input',
    {
      promptTokenCount: 600,
      cachedContentTokenCount: 300,
      candidatesTokenCount: 20,
      totalTokenCount: 620,
      promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 516 }],
      cacheTokensDetails: [{ modality: 'IMAGE', tokenCount: 258 }],
    },
    // 42×3000 + 300×300 + 258×4000 + 20×15000
    [42, 300, 0, 0, 20, 0, 258],
    1_548_000n,
    google,
  ],
  [
    'images in the answer, of whose words nothing is said',
    {
      promptTokenCount: 10,
      candidatesTokenCount: 1_300,
      thoughtsTokenCount: 100,
      totalTokenCount: 1_410,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    },
    // 10×3000 + 10×15000 + 100×20000 + 1290×40000
    [10, 0, 0, 0, 10, 100, undefined, 1_290],
    53_780_000n,
    google,
  ],
  [
    'more images than the whole',
    {
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      totalTokenCount: 15,
      promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 50 }],
      candidatesTokensDetails: [
        { modality: 'IMAGE', tokenCount: -7 },
        { modality: 'IMAGE', tokenCount: 50 },
      ],
    },
    // 10×4000 + 5×40000
    [0, 0, 0, 0, 0, 0, 10, 5],
    240_000n,
    { none: 'it refuses counts below zero' },
  ],
  [
    'a zero that is left out',
    { promptTokenCount: 10, thoughtsTokenCount: 30, totalTokenCount: 40 },
    [10, 0, 0, 0, 0, 30],
    630_000n,
    google,
  ],
]

const tables: Table[] = [
  { dialect: 'chat', read: (raw) => readChatUsage(raw), rows: chat },
  { dialect: 'chat with reasoning apart', read: (raw) => readChatUsage(raw, 'reasoning_apart'), rows: apart },
  { dialect: 'responses', read: readResponsesUsage, rows: responses },
  { dialect: 'messages', read: readMessagesUsage, rows: messages },
  { dialect: 'gemini', read: readGeminiUsage, rows: gemini },
]

describe.each(tables)('$dialect', ({ dialect, read, rows }) => {
  test.each(rows)(
    '%s',
    (_name, raw, [fresh, cached, write5m, write1h, text, reasoning, inputImage, outputImage], nanoUsd, oracle) => {
      const usage = read(raw) ?? expect.unreachable()
      expect(usage).toEqual({
        inputFresh: fresh,
        inputCached: cached,
        cacheWrite5m: write5m,
        cacheWrite1h: write1h,
        outputText: text,
        outputReasoning: reasoning,
        ...(inputImage !== undefined && { inputImage }),
        ...(outputImage !== undefined && { outputImage }),
      })
      expect(priceOf(usage, card)).toBe(nanoUsd)
      if ('none' in oracle) return
      expect(seenBy(oracle, dialect, raw)).toEqual({
        input: inputTokens(usage),
        cached,
        written: write5m + write1h,
        output: outputTokens(usage),
        reasoning,
      })
    },
  )
})

/** How the price list's extractor reads the same. */
function seenBy({ provider, flavor }: Extract<Oracle, { provider: string }>, dialect: string, raw: object): object {
  const known = findProvider({ providerId: provider }) ?? expect.unreachable()
  const answer = dialect === 'gemini' ? { modelVersion: 'm', usageMetadata: raw } : { model: 'm', usage: raw }
  const { usage } = extractUsage(known, answer, flavor)
  return {
    input: usage['input_tokens'] ?? 0,
    cached: usage['cache_read_tokens'] ?? 0,
    written: usage['cache_write_tokens'] ?? 0,
    output: usage['output_tokens'] ?? 0,
    reasoning: usage['output_reasoning_tokens'] ?? 0,
  }
}
