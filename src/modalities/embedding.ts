/** Embeddings: one whole reply without output tokens. */
import { firstEventTimeoutOf } from '../vendors/first-token-timeout.ts'
import { acceptsKind, acceptsMedia } from './acceptance.ts'
import type { AnswerModality } from './modality.ts'
import { wordStreamMax } from './stream-max.ts'
import { isUnanswered } from './text.ts'
import { meterTokens } from './token-meter.ts'
import { likelyTokens, quoteTokens } from './token-quote.ts'

export const embeddingModality: AnswerModality = {
  kind: 'embedding',
  delivery: 'answer',
  isIncremental: false,
  needsDurableHold: false,
  passesFields: false,
  sendOnce: false,
  endpoints: () => ['embeddings', 'gemini'],
  accepts: acceptsKind,
  acceptsInput: acceptsMedia,
  lengthOf: () => undefined,
  quote: (request, model, means) => quoteTokens(request, model, { means, canGrow: false, imageTokens: 0 }),
  likelyTokens,
  isUnbilled: isUnanswered,
  attemptBounds: (model, limits, isWhole) => ({
    firstEventTimeoutMs: isWhole ? limits.wholeReplyTimeoutMs : firstEventTimeoutOf(model),
    eventGapTimeoutMs: limits.eventGapTimeoutMs,
    replyBytesMax: limits.replyBytesMax,
    eventCharsMax: limits.eventCharsMax,
  }),
  streamMax: wordStreamMax,
  isPart: () => false,
  meter: meterTokens,
}
