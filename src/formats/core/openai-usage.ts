/**
 * Usage of the chat format in disjoint buckets. This is the only place that builds a usage from fields of that format.
 */
import { inputTokens, outputTokens, type Usage } from '../../domain/usage.ts'
import type { UsageDialect } from '../../vendors/preset.ts'
import { asFields, asList, type Fields } from './fields.ts'
import { tokenCount } from './token-count.ts'

/** The usage that an answer or a chunk states. Groq has stated it in an extension, Moonshot in the choice (2026-11). */
export const statedUsage = ({ usage, x_groq: groq, choices }: Fields): unknown =>
  usage ?? asFields(groq)['usage'] ?? asFields(asList(choices)[0])['usage']

/** Reads a `usage` object. Undefined if it is absent or holds no counts: the usage is then unknown, never zero. */
export function readChatUsage(raw: unknown, dialect: UsageDialect = 'inclusive'): Usage | undefined {
  const usage = asFields(raw)
  // Some servers use the names of the responses format.
  const prompt = tokenCount(usage['prompt_tokens'] ?? usage['input_tokens'])
  const completion = tokenCount(usage['completion_tokens'] ?? usage['output_tokens'])
  if (prompt === undefined || completion === undefined) return undefined
  // Mistral has used the singular, too (2026-08).
  const promptDetails = asFields(
    usage['prompt_tokens_details'] ?? usage['prompt_token_details'] ?? usage['input_tokens_details'],
  )
  const completionDetails = asFields(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  // DeepSeek has cache hits at the top level. Moonshot and Mistral have also used other names (2026-08).
  const cached = tokenCount(
    promptDetails['cached_tokens'] ??
      usage['prompt_cache_hit_tokens'] ??
      usage['cached_tokens'] ??
      usage['num_cached_tokens'] ??
      0,
  )
  // Alibaba names cache writes as Anthropic does (2026-08).
  const writes = promptDetails['cache_write_tokens'] ?? promptDetails['cache_creation_input_tokens']
  const inputCached = Math.min(cached ?? 0, prompt)
  const written = Math.min(tokenCount(writes) ?? 0, prompt - inputCached)
  const reasoning = tokenCount(completionDetails['reasoning_tokens'] ?? usage['reasoning_tokens']) ?? 0
  const apart = dialect === 'reasoning_apart'
  const outputReasoning = apart ? reasoning : Math.min(reasoning, completion)
  return {
    inputFresh: prompt - inputCached - written,
    inputCached,
    cacheWrite5m: written,
    cacheWrite1h: 0,
    outputText: apart ? completion : completion - outputReasoning,
    outputReasoning,
  }
}

/** Writes a usage as the chat format's `usage` object, in JSON. */
export function writeChatUsage(usage: Usage): string {
  const prompt = inputTokens(usage)
  const completion = outputTokens(usage)
  return JSON.stringify({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.inputCached,
      audio_tokens: 0,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    },
    completion_tokens_details: { reasoning_tokens: usage.outputReasoning, audio_tokens: 0 },
  })
}

/**
 * The text that must replace an upstream's usage object so that the sums of the specification hold. Undefined if the
 * object may stay byte for byte. Other fields of the object stay.
 */
export function correctedUsage(raw: unknown, usage: Usage): string | undefined {
  const fields = asFields(raw)
  const prompt = inputTokens(usage)
  const completion = outputTokens(usage)
  const total = prompt + completion
  const { prompt_tokens: saidPrompt, completion_tokens: saidCompletion, total_tokens: saidTotal } = fields
  if (saidPrompt === prompt && saidCompletion === completion && saidTotal === total) return undefined
  return JSON.stringify({ ...fields, prompt_tokens: prompt, completion_tokens: completion, total_tokens: total })
}
