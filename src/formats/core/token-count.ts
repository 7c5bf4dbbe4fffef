import { numberIn } from './fields.ts'
import { limit } from '../../lib/primitives/limit.ts'

/** More tokens than any answer can have. */
const TOKENS_MAX = limit('reportedTokensMax', 1_000_000_000, 'A larger reported token count is treated as missing.')

/** A token count, or undefined. Negative, fractional, absurd and non-numeric counts are wrong and count as absent. */
export function tokenCount(value: unknown): number | undefined {
  const tokens = numberIn(value)
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= TOKENS_MAX
    ? tokens
    : undefined
}
