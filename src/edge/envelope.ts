/** Chooses the dialect in which a failure is written. */
import { writeFailure } from '../formats/core/openai-failure.ts'
import type { FailureWriter } from '../formats/core/contract.ts'
import { writeGeminiFailure } from '../formats/core/google-failure.ts'
import { messagesFailureWriter } from '../formats/messages/failure.ts'
import type { DialectHead } from './request-body.ts'
import { isModelAction, pathsOf } from './router.ts'
import { publicRoutes } from './routes.ts'

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

/** Names after `/v1/` that are not OpenAI's alone: Anthropic's, and those that several dialects have. */
const NOT_OPENAI = ['messages', 'models']

const namesAfterV1 = publicRoutes.flatMap(pathsOf).flatMap((path) => /^\/v1\/([\w-]+)/.exec(path)?.[1] ?? [])
const openaiNames = [...new Set(namesAfterV1)].filter((name) => !NOT_OPENAI.includes(name))
/** Paths that belong to OpenAI's API or to the gateway alone: all others of the table of routes. */
const OF_OPENAI = new RegExp(`^/v1/(?:${openaiNames.join('|')})(?:/|$)`)

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
