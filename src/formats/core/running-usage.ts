/** The usage of a stream so far. Servers may state it any number of times. */
import { inputTokens, outputTokens, type Usage } from '../../domain/usage.ts'

/**
 * The usage of a stream by its last reports. Running totals overwrite each other; they do not add up. Some servers
 * state the input at the start and the output at the end, or end with zeros. A side that is zero is ignored.
 */
export function runningUsage(earlier: Usage | undefined, later: Usage | undefined): Usage | undefined {
  if (!earlier || !later) return later ?? earlier
  const input = inputTokens(later) > 0 ? later : earlier
  const output = outputTokens(later) > 0 ? later : earlier
  if (input === output) return input
  const { outputText, outputReasoning, outputImage } = output
  const { outputImage: _, ...rest } = input
  return { ...rest, outputText, outputReasoning, ...(outputImage !== undefined && { outputImage }) }
}
