/** Usage of the Messages format in disjoint buckets. This is the only place that builds one from its wire fields. */
import { outputTokens, type Usage } from '../../domain/usage.ts'
import { asFields, asList, numberIn, ownIn, type Fields } from '../core/fields.ts'
import { gather } from '../core/gather.ts'
import { tokenCount } from '../core/token-count.ts'

/** The counts of one usage object. */
type Counts = {
  readonly input: number
  readonly output: number
  readonly thinking: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number
}

function countsOf(usage: Fields): Counts | undefined {
  const input = tokenCount(usage['input_tokens'])
  const output = tokenCount(usage['output_tokens'])
  if (input === undefined || output === undefined) return undefined
  const byTime = asFields(usage['cache_creation'])
  const fiveMinutes = tokenCount(byTime['ephemeral_5m_input_tokens']) ?? 0
  const oneHour = tokenCount(byTime['ephemeral_1h_input_tokens']) ?? 0
  const cacheWrite = tokenCount(usage['cache_creation_input_tokens']) ?? fiveMinutes + oneHour
  return {
    input,
    output,
    thinking: tokenCount(asFields(usage['output_tokens_details'])['thinking_tokens']) ?? 0,
    cacheRead: tokenCount(usage['cache_read_input_tokens']) ?? 0,
    cacheWrite,
    cacheWrite1h: Math.min(oneHour, cacheWrite),
  }
}

const add = (a: Counts, b: Counts): Counts => ({
  input: a.input + b.input,
  output: a.output + b.output,
  thinking: a.thinking + b.thinking,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
})

/**
 * If an answer took several runs of a model (compaction), the totals leave some of them out. Only the list of all runs
 * is the bill (Anthropic, 2026-08). The share of thinking is stated for the whole only.
 */
function sumOfIterations(usage: Fields): Counts | undefined {
  const counts = asList(usage['iterations']).map((one) => countsOf(asFields(one)))
  let total: Counts | undefined
  for (const one of counts) {
    if (!one) return undefined
    total = total ? add(total, one) : one
  }
  const thinking = countsOf(usage)?.thinking ?? 0
  return total && { ...total, thinking: Math.max(total.thinking, thinking) }
}

/** Reads a `usage` object. Undefined if it is absent or holds no counts: the usage is then unknown, never zero. */
export function readMessagesUsage(raw: unknown): Usage | undefined {
  const usage = asFields(raw)
  const counts = sumOfIterations(usage) ?? countsOf(usage)
  if (!counts) return undefined
  const outputReasoning = Math.min(counts.thinking, counts.output)
  return {
    inputFresh: counts.input,
    inputCached: counts.cacheRead,
    cacheWrite5m: counts.cacheWrite - counts.cacheWrite1h,
    cacheWrite1h: counts.cacheWrite1h,
    outputText: counts.output - outputReasoning,
    outputReasoning,
  }
}

/**
 * The usage of a stream so far. `message_start` states the input. `message_delta` states running totals and may repeat
 * any count. A later count overwrites an earlier one. Null is ignored, and so is a zero after a count: servers of other
 * models end with zeros for the input.
 */
export function mergeUsage(earlier: Fields | undefined, later: unknown): Fields | undefined {
  const stated = Object.entries(asFields(later)).filter(
    ([name, value]) => value !== null && !(numberIn(value) === 0 && (tokenCount(ownIn(earlier ?? {}, name)) ?? 0) > 0),
  )
  if (stated.length === 0) return earlier
  const merged = { ...earlier }
  gather(merged, Object.fromEntries(stated))
  return merged
}

/** Writes a usage as the format's `usage` object. */
export const writeMessagesUsage = (usage: Usage): object => ({
  input_tokens: usage.inputFresh + (usage.inputImage ?? 0),
  cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
  cache_read_input_tokens: usage.inputCached,
  cache_creation: {
    ephemeral_5m_input_tokens: usage.cacheWrite5m,
    ephemeral_1h_input_tokens: usage.cacheWrite1h,
  },
  output_tokens: outputTokens(usage),
  output_tokens_details: { thinking_tokens: usage.outputReasoning },
})
