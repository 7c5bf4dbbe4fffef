import type { Usage } from '../../domain/usage.ts'

/** The usage that the gateway counted itself, for an answer whose upstream reported none. */
export function estimatedUsage(promptTokens: number, completionTokens: number): Usage {
  return {
    inputFresh: promptTokens,
    inputCached: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    outputText: completionTokens,
    outputReasoning: 0,
  }
}
