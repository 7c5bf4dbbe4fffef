/** The envelopes of failures: which dialect a client speaks. */
import { writeFailure } from '../formats/core/openai-failure.ts'
import type { FailureWriter } from '../formats/core/contract.ts'
import { writeGeminiFailure } from '../formats/core/google-failure.ts'
import { messagesFailureWriter } from '../formats/messages/failure.ts'
import type { DialectHead } from './request-body.ts'
import { isModelAction } from './router.ts'

/** How a dialect refuses. */
export type Envelope = {
  readonly dialect: 'chat' | 'messages' | 'gemini'
  readonly failures: FailureWriter
  /** Where clients look for the request's id beside `x-request-id`. */
  readonly requestIdHeader?: 'request-id'
}

export const chatEnvelope: Envelope = { dialect: 'chat', failures: { write: writeFailure } }
const messagesEnvelope: Envelope = {
  dialect: 'messages',
  failures: messagesFailureWriter,
  requestIdHeader: 'request-id',
}
const geminiEnvelope: Envelope = { dialect: 'gemini', failures: { write: writeGeminiFailure } }

/** Paths that are OpenAI's alone, or our own. */
const OF_OPENAI = /^\/v1\/(?:chat|responses|embeddings|images|videos?|balance)(?:\/|$)/

/**
 * By the path: a client of one dialect that asks for a route that is not there reads no other. Where a path is of
 * several dialects, as that of models, or of none, by the headers that only clients of one send.
 */
export function envelopeOf(path: string, asker?: DialectHead): Envelope {
  if (/^(?:\/v1)*\/messages(?:\/|$)/.test(path)) return messagesEnvelope
  if (/^\/v1(?:beta|alpha)(?:\/|$)/.test(path) || isModelAction(path)) return geminiEnvelope
  if (!asker || OF_OPENAI.test(path)) return chatEnvelope
  if ((asker.header('anthropic-version') ?? asker.header('x-api-key')) !== undefined) return messagesEnvelope
  const isGoogles = asker.header('x-goog-api-key') !== undefined || /[?&]key=/.test(asker.head.query)
  return isGoogles ? geminiEnvelope : chatEnvelope
}
