import type { Usage } from '../../domain/usage.ts'
import { asFields } from '../core/fields.ts'

/** Reads the usage of an embedding reply. Undefined if it is absent, no count or zero: the usage is then unknown. */
export function readEmbeddingUsage(raw: unknown): Usage | undefined {
  const { prompt_tokens: prompt, total_tokens: total } = asFields(raw)
  const tokens = prompt || total
  if (typeof tokens !== 'number' || !Number.isSafeInteger(tokens) || tokens <= 0) return undefined
  return inputUsage(tokens)
}

export const inputUsage = (tokens: number): Usage => ({
  inputFresh: tokens,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 0,
  outputReasoning: 0,
})
