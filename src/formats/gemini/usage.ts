/** Usage of Gemini's API, normalised to disjoint buckets. The only place that builds one from its wire fields. */
import { inputTokens, outputTokens, type Usage } from '../../domain/usage.ts'
import { asFields } from '../fields.ts'

/** More tokens than any one answer can have. */
const TOKENS_MAX = 1_000_000_000

/** A token count, or undefined. Negative, fractional, absurd and non-numeric counts are lies and count as absent. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : undefined

/**
 * Reads a `usageMetadata` object. promptTokenCount includes what was cached; what tools put in comes on top, and so do
 * thoughts on top of the candidates. The API leaves zeros out: without candidatesTokenCount the stated total says how
 * many there were, and without a total nothing does. Undefined is unknown, never zero.
 */
export function readGeminiUsage(raw: unknown): Usage | undefined {
  const usage = asFields(raw)
  const prompt = count(usage['promptTokenCount'])
  if (prompt === undefined) return undefined
  const thoughts = count(usage['thoughtsTokenCount']) ?? 0
  const byTools = count(usage['toolUsePromptTokenCount']) ?? 0
  const total = count(usage['totalTokenCount'])
  const rest = total === undefined ? undefined : count(total - prompt - byTools - thoughts)
  const candidates = usage['candidatesTokenCount'] === undefined ? rest : count(usage['candidatesTokenCount'])
  if (candidates === undefined) return undefined
  const inputCached = Math.min(count(usage['cachedContentTokenCount']) ?? 0, prompt)
  return {
    inputFresh: prompt - inputCached + byTools,
    inputCached,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    outputText: candidates,
    outputReasoning: thoughts,
  }
}

/** Writes a usage as a `usageMetadata` object, as JSON text. */
export function writeGeminiUsage(usage: Usage): string {
  return JSON.stringify({
    promptTokenCount: inputTokens(usage),
    candidatesTokenCount: usage.outputText,
    totalTokenCount: inputTokens(usage) + outputTokens(usage),
    cachedContentTokenCount: usage.inputCached,
    thoughtsTokenCount: usage.outputReasoning,
  })
}

/**
 * The text that must replace an upstream's usageMetadata for the total to be the sum of its parts, or undefined when it
 * may stay as it is, byte for byte.
 */
export function correctedGeminiUsage(raw: unknown, usage: Usage): string | undefined {
  const totalTokenCount = inputTokens(usage) + outputTokens(usage)
  const fields = asFields(raw)
  return fields['totalTokenCount'] === totalTokenCount ? undefined : JSON.stringify({ ...fields, totalTokenCount })
}
