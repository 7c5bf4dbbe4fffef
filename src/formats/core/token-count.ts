import { numberIn } from './fields.ts'

/** More tokens than any one answer can have. */
const TOKENS_MAX = 1_000_000_000

/** A token count, or undefined. Negative, fractional, absurd and non-numeric counts are lies and count as absent. */
export function tokenCount(value: unknown): number | undefined {
  const tokens = numberIn(value)
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= TOKENS_MAX
    ? tokens
    : undefined
}
