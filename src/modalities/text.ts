/** Text. Its tokens arrive one after the other, so its hold can grow with it. */
import type { Model } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { RequestLength } from '../domain/usage.ts'
import { firstEventTimeoutOf } from '../vendors/first-token-timeout.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { wordsOf } from '../formats/core/request-words.ts'
import { estimateTokens } from '../lib/primitives/token-estimate.ts'
import { acceptsKind, acceptsMedia } from './acceptance.ts'
import type { AnswerModality } from './modality.ts'
import { wordStreamMax } from './stream-max.ts'
import { meterTokens } from './token-meter.ts'
import { likelyTokens, quoteTokens } from './token-quote.ts'

/**
 * Statuses with which a vendor, or a proxy before it, says that it gave no answer. 504, 524 and the like are not among
 * them, because the vendor may still be at work and bill for it.
 */
const UNANSWERED = new Set([408, 429, 498, 500, 502, 503, 520, 521, 522, 523, 529])

export const isUnanswered = (status = 503): boolean => UNANSWERED.has(status)

export const textModality: AnswerModality = {
  kind: 'text',
  delivery: 'answer',
  isIncremental: true,
  needsDurableHold: false,
  passesFields: true,
  sendOnce: false,
  endpoints: () => ['chat.completions', 'responses', 'messages', 'gemini'],
  accepts: acceptsKind,
  acceptsInput: (model, request) => acceptsMedia(model, request) ?? acceptsPictures(model, request),
  lengthOf,
  quote: (request, model, means) => quoteTokens(request, model, { means, canGrow: true, imageTokens: 0 }),
  likelyTokens,
  isUnbilled: isUnanswered,
  attemptBounds: (model, limits, isWhole) => ({
    firstEventTimeoutMs: isWhole ? limits.wholeReplyTimeoutMs : firstEventTimeoutOf(model),
    eventGapTimeoutMs: limits.eventGapTimeoutMs,
    replyBytesMax: limits.textReplyBytesMax,
    eventCharsMax: limits.eventCharsMax,
  }),
  streamMax: wordStreamMax,
  isPart: () => false,
  meter: meterTokens,
}

function acceptsPictures({ id, limits }: Model, request: ClientRequest): Failure | undefined {
  if (request.imageParts === 0 || limits.pictureInput !== 'refused') return undefined
  const message = `The model '${id}' takes no pictures.`
  return { kind: 'model_not_supported', message, param: wordsOf(request).input }
}

/** The approximate length of a request, if offers differ in whether it fits. */
function lengthOf(request: ClientRequest, { offers }: Model): RequestLength | undefined {
  let least = Number.POSITIVE_INFINITY
  for (const { contextTokens } of offers) if (contextTokens !== undefined) least = Math.min(least, contextTokens)
  const output = (request.outputTokensMax ?? 0) * request.choices
  // Text never has more tokens than bytes, so most requests fit every offer.
  if (request.textBytes + output <= least) return undefined
  return { inputTokens: estimateTokens(request.promptText()), outputTokens: output }
}
