/** The endpoints that generate: their paths, the readers of their requests, and the envelopes of their failures. */
import type { Failure } from '../domain/failure.ts'
import { videoBounds } from '../domain/video.ts'
import { readChatClient } from '../formats/chat/client.ts'
import { writeFailure } from '../formats/core/openai-failure.ts'
import type { EditForm } from '../formats/images/edit.ts'
import type { ClientRequest, FailureWriter } from '../formats/core/contract.ts'
import { writeGeminiFailure } from '../formats/core/google-failure.ts'
import { readModelPath } from '../formats/core/google-model-path.ts'
import { messagesFailureWriter } from '../formats/messages/failure.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { SlotClaim } from '../lib/primitives/slots.ts'
import { readers } from './lazy-parsers.ts'
import type { StateRoute } from './state.ts'
import { listRoute } from './videos.ts'

export type ReadClientRequest =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

export type Endpoint = {
  /** Reads a body that is valid UTF-8. */
  read(body: Body, asked: RequestHead): ReadClientRequest | Promise<ReadClientRequest>
  /** Reads a form with files, or JSON with the like. Such an endpoint is read by this alone. */
  readonly readForm?: (form: EditForm, claim: SlotClaim) => Promise<ReadClientRequest>
  /** Where the tokens of a request are only to be counted, for nothing: how that is answered. */
  readonly count?: (inputTokens: number) => object
  /** What GET shows on the same path. */
  readonly list?: StateRoute
  /** Where its bodies may be larger than others. */
  readonly bodyBytesMax?: number
}

type Body = { readonly text: string; readonly bytes: number }

/** What else of a request is part of its dialect. */
type RequestHead = Pick<ServerExchange, 'head' | 'header'>

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
export function envelopeOf(path: string, asker?: RequestHead): Envelope {
  if (/^(?:\/v1)*\/messages(?:\/|$)/.test(path)) return messagesEnvelope
  if (/^\/v1(?:beta|alpha)(?:\/|$)/.test(path) || geminiEndpoint(path)) return geminiEnvelope
  if (!asker || OF_OPENAI.test(path)) return chatEnvelope
  if ((asker.header('anthropic-version') ?? asker.header('x-api-key')) !== undefined) return messagesEnvelope
  const isGoogles = asker.header('x-goog-api-key') !== undefined || /[?&]key=/.test(asker.head.query)
  return isGoogles ? geminiEnvelope : chatEnvelope
}

const videos: Endpoint = {
  read: ({ text, bytes }) => readers.videos(({ readVideoClient }) => readVideoClient(text, bytes)),
  bodyBytesMax: videoBounds.bodyBytesMax,
}

/** By path; those whose path holds the model are found by `surfaceOf`. */
const endpoints: Readonly<Record<string, Endpoint>> = {
  '/v1/chat/completions': { read: ({ text, bytes }) => readChatClient(text, bytes) },
  '/v1/embeddings': {
    read: ({ text }) => readers.embeddings(({ readEmbeddingClient }) => readEmbeddingClient(text)),
  },
  '/v1/messages': {
    read: ({ text, bytes }, asked) =>
      readers.messages(({ readMessagesClient }) => readMessagesClient(text, bytes, asked.header('anthropic-beta'))),
  },
  '/v1/messages/count_tokens': {
    read: ({ text, bytes }) => readers.messages(({ readMessagesCount }) => readMessagesCount(text, bytes)),
    count: (inputTokens) => ({ input_tokens: inputTokens }),
  },
  '/v1/responses': {
    read: ({ text, bytes }) => readers.responses(({ readResponsesClient }) => readResponsesClient(text, bytes)),
  },
  '/v1/responses/compact': {
    read: ({ text, bytes }) => readers.responses(({ readCompactionClient }) => readCompactionClient(text, bytes)),
  },
  '/v1/images/generations': {
    read: ({ text }) => readers.images(({ readImageClient }) => readImageClient(text)),
  },
  '/v1/videos': { ...videos, list: listRoute },
  '/v1/video/generations': videos,
  '/v1/images/edits': {
    readForm: async (form, claim) => readers.edits(({ readEditClient }) => readEditClient(form, claim)),
    read: () => {
      throw new Error('edits are read as a form')
    },
  },
}

const geminiContent: Endpoint = {
  read: (body, { head: { path, query } }) =>
    readers.gemini(({ readGeminiClient }) => readGeminiClient({ ...body, path, query })),
}
const geminiEmbeddings: Endpoint = {
  read: ({ text }, { head: { path } }) =>
    readers.geminiEmbeddings(({ readGeminiEmbeddings }) => readGeminiEmbeddings({ text, path })),
}
/** By what stands behind the model. */
const geminiActions: Readonly<Record<string, Endpoint>> = {
  generateContent: geminiContent,
  streamGenerateContent: geminiContent,
  embedContent: geminiEmbeddings,
  batchEmbedContents: geminiEmbeddings,
  countTokens: {
    read: (body, { head: { path, query } }) =>
      readers.gemini(({ readGeminiCount }) => readGeminiCount({ ...body, path, query })),
    count: (totalTokens) => ({ totalTokens }),
  },
}

const geminiEndpoint = (path: string): Endpoint | undefined => {
  const action = readModelPath(path)?.action
  return action !== undefined && Object.hasOwn(geminiActions, action) ? geminiActions[action] : undefined
}

export const endpointOf = (path: string): Endpoint | undefined =>
  Object.hasOwn(endpoints, path) ? endpoints[path] : geminiEndpoint(path)

/** The path that a client meant whose base URL lacks its version, or has it twice; undefined where there is none. */
export function meantPath(path: string): string | undefined {
  const rest = path.replace(/^(?:\/v1(?:beta|alpha)?(?=\/))+/, '')
  return [`/v1beta${rest}`, `/v1${rest}`].find((one) => one !== path && endpointOf(one))
}
