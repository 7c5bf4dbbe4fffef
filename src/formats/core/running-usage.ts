/** The usage of a stream so far, whose server states it as often as it likes. */
import { inputTokens, outputTokens, type Usage } from '../../domain/usage.ts'

/**
 * What a stream has used by its last reports. Running totals overwrite, they do not add. Some servers state the input
 * at the start and the output at the end, or end with zeros: a side that is zero says nothing of it.
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
