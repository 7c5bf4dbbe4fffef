/** Chooses the dialect in which a failure is written. */
import { writeFailure } from '../formats/core/openai-failure.ts'
import type { FailureWriter } from '../formats/core/contract.ts'
import { writeGeminiFailure } from '../formats/core/google-failure.ts'
import { messagesFailureWriter } from '../formats/messages/failure.ts'
import type { DialectHead } from './request-body.ts'
import { isModelAction } from './router.ts'

/** The form of failures in one dialect. */
export type Envelope = {
  readonly dialect: 'chat' | 'messages' | 'gemini'
  readonly failures: FailureWriter
  /** A second header that carries the request id, for clients that do not read `x-request-id`. */
  readonly requestIdHeader?: 'request-id'
}

export const chatEnvelope: Envelope = { dialect: 'chat', failures: { write: writeFailure } }
const messagesEnvelope: Envelope = {
  dialect: 'messages',
  failures: messagesFailureWriter,
  requestIdHeader: 'request-id',
}
const geminiEnvelope: Envelope = { dialect: 'gemini', failures: { write: writeGeminiFailure } }

/** Paths that belong to OpenAI's API or to the gateway alone. */
const OF_OPENAI = /^\/v1\/(?:chat|responses|embeddings|images|videos?|balance)(?:\/|$)/

/**
 * Finds the envelope of a request. The path decides first, even for a route that does not exist: a client of one
 * dialect reads no other envelope. Paths of several dialects, such as `/v1/models`, and unknown paths are decided by
 * headers that only the clients of one dialect send.
 */
export function envelopeOf(path: string, asker?: DialectHead): Envelope {
  if (/^(?:\/v1)*\/messages(?:\/|$)/.test(path)) return messagesEnvelope
  if (/^\/v1(?:beta|alpha)(?:\/|$)/.test(path) || isModelAction(path)) return geminiEnvelope
  if (!asker || OF_OPENAI.test(path)) return chatEnvelope
  if ((asker.header('anthropic-version') ?? asker.header('x-api-key')) !== undefined) return messagesEnvelope
  const isGoogles = asker.header('x-goog-api-key') !== undefined || /[?&]key=/.test(asker.head.query)
  return isGoogles ? geminiEnvelope : chatEnvelope
}
