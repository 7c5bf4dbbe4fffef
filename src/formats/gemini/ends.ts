/** The finish reasons of Gemini's API, and which of them are failures: a model that broke off does not say so. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import type { FinishReason } from '../../domain/turn.ts'
import { asFields, asList, asText, ownIn, type Fields } from '../core/fields.ts'

/** From Google's SDK and documentation (`FinishReason`), November 2026. */
const finishes: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
}
/** The model broke its own format. Another attempt may succeed. */
const broken = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
])

/** Whether a candidate of a stream has ended. Some servers send an empty reason from the start. */
export const isEnd = (reason: unknown): boolean => typeof reason === 'string' && reason !== ''

export function finishOfGemini(reason: unknown, hasCalls: boolean): FinishReason {
  const finish = ownIn(finishes, asText(reason)) ?? 'stop'
  return finish === 'stop' && hasCalls ? 'tool_calls' : finish
}

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
}
export const geminiReasonOf = (finish: FinishReason): string => reasons[finish]

/** Whether a candidate has content for its client. Empty texts, thoughts and signatures do not count. */
export const hasContent = (candidate: Fields): boolean =>
  asList(asFields(candidate['content'])['parts']).some((part) => {
    const { text, thought, thoughtSignature: _, ...others } = asFields(part)
    return thought !== true && (asText(text) !== '' || Object.keys(others).length > 0)
  })

/**
 * Whether an answer may be empty. `at_stop`: a stop sequence may come first, or the last message is a tool's result.
 * `lawful`: images are made, and the client reads why there is none and pays nothing.
 */
export type Silence = 'lawful' | 'at_stop' | 'failure'

export type FailedAnswer = { readonly kind: 'failed'; readonly failure: UpstreamFailure }

/** A prompt can cause this failure, so it rests no offer. */
const failed = (message: string, code?: string): FailedAnswer => ({
  kind: 'failed',
  failure: { kind: 'server', status: 200, message, isDoubtful: true, ...(code === undefined ? {} : { code }) },
})

export const failureOfFinish = (reason: unknown): FailedAnswer | undefined =>
  broken.has(asText(reason)) ? failed(`the answer ended with ${asText(reason)}`, asText(reason)) : undefined

/**
 * An end without content, by neither the limit nor a filter, looks like an empty success to every client. An agent then
 * continues as if it had an answer. Models do this now and then, and answer when asked again
 * (https://github.com/BerriAI/litellm/pull/24462, https://github.com/AstrBotDevs/AstrBot/pull/6735, 2026-11).
 */
export function silentEnd(reason: unknown, silence: Silence): FailedAnswer | undefined {
  const finish = finishOfGemini(reason, false)
  if (finish !== 'stop' || silence === 'lawful' || (silence === 'at_stop' && reason === 'STOP')) return undefined
  return failed(`the answer ended without content (${asText(reason).slice(0, 64) || 'no reason'})`)
}
