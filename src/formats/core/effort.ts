/** Reasoning effort in the words of OpenAI's formats. */
import type { Effort } from '../../domain/turn.ts'

const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Undefined for an unknown word. `ultra` is above all others (Codex 0.169 for gpt-6, 2026-11). */
export const effortIn = (word: unknown): Effort | undefined =>
  word === 'ultra' ? 'max' : efforts.find((effort) => effort === word)
