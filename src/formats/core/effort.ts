/** How hard a model is to think, as clients of OpenAI's formats say it. */
import type { Effort } from '../../domain/turn.ts'

const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Undefined for a word that nobody here knows. `ultra` is above all others (Codex 0.169 for gpt-6, 2026-11). */
export const effortIn = (word: unknown): Effort | undefined =>
  word === 'ultra' ? 'max' : efforts.find((effort) => effort === word)
