/** How long an upstream may be silent before its first event. */
import type { Model } from '../domain/catalog.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

export const patienceMs = { firstEventTimeoutMs: MINUTE_MS, firstEventTimeoutReasoningMs: 300_000 }

/**
 * Models that may reason for minutes before their first event, by the part of the name after the last slash. Models
 * that stream their reasoning (Claude, gpt-oss, Qwen 3) are not silent, so they are not among them.
 */
const REASONS_SILENTLY = new RegExp(
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
const SAYS_IT_DOES_NOT = /\bnon-(?:reasoning|thinking)\b/i

/** Whether a model reasons in silence. No price list has this fact, so the name decides. */
function reasonsSilently(upstreamModel: string): boolean {
  const name = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1)
  return REASONS_SILENTLY.test(name) && !SAYS_IT_DOES_NOT.test(name)
}

/** The timeout that the operator has set, or one by the names of the models that its offers call. */
export function firstEventTimeoutOf({ kind, limits, offers }: Pick<Model, 'kind' | 'limits' | 'offers'>): number {
  if (limits.firstEventTimeoutMs !== undefined) return limits.firstEventTimeoutMs
  const isPatient = kind === 'text' && offers.some(({ upstreamModel }) => reasonsSilently(upstreamModel))
  return isPatient ? patienceMs.firstEventTimeoutReasoningMs : patienceMs.firstEventTimeoutMs
}
