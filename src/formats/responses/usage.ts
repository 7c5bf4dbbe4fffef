/** Usage of the responses format to and from disjoint buckets. */
import { inputTokens, outputTokens, type Usage } from '../../domain/usage.ts'
import { readChatUsage } from '../core/openai-usage.ts'
import { asFields } from '../core/fields.ts'

/**
 * Reads a `usage` object. OpenAI's rule of inclusive totals applies, under other names. Undefined if it holds no
 * counts.
 */
export function readResponsesUsage(raw: unknown): Usage | undefined {
  const usage = asFields(raw)
  return readChatUsage({
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    prompt_tokens_details: usage['input_tokens_details'],
    completion_tokens_details: usage['output_tokens_details'],
  })
}

export function responsesUsage(usage: Usage): object {
  const input = inputTokens(usage)
  const output = outputTokens(usage)
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.inputCached,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.outputReasoning },
    total_tokens: input + output,
  }
}
