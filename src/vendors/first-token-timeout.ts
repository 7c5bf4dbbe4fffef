/** How long an upstream may be silent before its first event, where the operator has not said it of the model. */
import type { Model } from '../domain/catalog.ts'

export const patienceMs = { firstEventTimeoutMs: 60_000, firstEventTimeoutReasoningMs: 300_000 }

/**
 * Names, without what stands before the last slash, of models that may think for minutes before they say a word. Those
 * that show their thoughts as they come (Claude, gpt-oss, Qwen 3) are not among them: they are not silent.
 */
const THINKS = new RegExp(
  [
    /^o[1-9]\b/,
    /^gpt-(?:[5-9]|1\d)(?!\d)/,
    /^gemini-(?:2\.5|[3-9])/,
    /^grok-(?:[4-9]|3-mini)/,
    /^(?:qwq|magistral)/,
    /\bdeepseek[-.]r\d/,
    /\b(?:reasoner|reasoning|thinking)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)
const SAYS_NOT = /\bnon-(?:reasoning|thinking)\b/i

/** Whether a vendor's model of this name is known to think in silence. No price list says so: its name has to. */
function thinksFirst(upstreamModel: string): boolean {
  const name = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1)
  return THINKS.test(name) && !SAYS_NOT.test(name)
}

/** What the operator has said, or what the names of its offers let expect. */
export function firstEventTimeoutOf({ kind, limits, offers }: Pick<Model, 'kind' | 'limits' | 'offers'>): number {
  if (limits.firstEventTimeoutMs !== undefined) return limits.firstEventTimeoutMs
  const isPatient = kind === 'text' && offers.some(({ upstreamModel }) => thinksFirst(upstreamModel))
  return isPatient ? patienceMs.firstEventTimeoutReasoningMs : patienceMs.firstEventTimeoutMs
}
