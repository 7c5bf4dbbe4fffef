/** Usage of the Converse format in disjoint buckets. This is the only place that builds one from its wire fields. */
import type { Usage } from '../../domain/usage.ts'
import { asFields, asList } from '../core/fields.ts'
import { tokenCount } from '../core/token-count.ts'

/**
 * Reads a `usage` object (`TokenUsage` of the service model, boto/botocore, 2026-08). `inputTokens` has neither the
 * tokens read from the cache nor those written to it (`_extract_usage_metadata`, langchain-ai/langchain-aws, 2026-08).
 * Undefined if it holds no counts: the usage is then unknown, never zero.
 */
export function readConverseUsage(raw: unknown): Usage | undefined {
  const usage = asFields(raw)
  const inputFresh = tokenCount(usage['inputTokens'])
  const outputText = tokenCount(usage['outputTokens'])
  if (inputFresh === undefined || outputText === undefined) return undefined
  let fiveMinutes = 0
  let oneHour = 0
  for (const detail of asList(usage['cacheDetails']).map(asFields)) {
    const tokens = tokenCount(detail['inputTokens']) ?? 0
    if (detail['ttl'] === '1h') oneHour += tokens
    else fiveMinutes += tokens
  }
  const cacheWrite = tokenCount(usage['cacheWriteInputTokens']) ?? fiveMinutes + oneHour
  const cacheWrite1h = Math.min(oneHour, cacheWrite)
  return {
    inputFresh,
    inputCached: tokenCount(usage['cacheReadInputTokens']) ?? 0,
    cacheWrite5m: cacheWrite - cacheWrite1h,
    cacheWrite1h,
    outputText,
    // The thoughts are among the output. How many there are is not stated.
    outputReasoning: 0,
  }
}
