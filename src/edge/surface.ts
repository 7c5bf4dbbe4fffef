/** The endpoints that generate: where they are, whose dialect they speak, how their requests are read. */
import type { Failure } from '../domain/failure.ts'
import { readChatClient } from '../formats/chat/client.ts'
import { writeFailure } from '../formats/chat/failure.ts'
import { readEmbeddingClient } from '../formats/embeddings/request.ts'
import type { ClientRequest, FailureWriter } from '../formats/format.ts'
import { writeGeminiFailure } from '../formats/gemini/failure.ts'
import { readModelPath } from '../formats/gemini/model-path.ts'
import { readGeminiClient, readGeminiCount, writeGeminiCount } from '../formats/gemini/surface.ts'

export type ReadClientRequest =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

export type Surface = {
  readonly failures: FailureWriter
  /** Reads a body that is valid UTF-8. Path and query are the request's, for dialects that say something there. */
  read(
    body: { readonly text: string; readonly bytes: number },
    path: string,
    query: string,
  ): ReadClientRequest | Promise<ReadClientRequest>
  /** Set where a request is only counted, for nothing: the answer that says how many tokens it would put in. */
  readonly writeCount?: (tokens: number) => string
}

export const chatFailureWriter: FailureWriter = { write: writeFailure }

/** By path; those whose path holds the model are found by `surfaceOf`. */
const surfaces: Readonly<Record<string, Surface>> = {
  '/v1/chat/completions': { failures: chatFailureWriter, read: ({ text, bytes }) => readChatClient(text, bytes) },
  '/v1/embeddings': { failures: chatFailureWriter, read: ({ text }) => readEmbeddingClient(text) },
}

const geminiFailures: FailureWriter = { write: writeGeminiFailure }
const geminiContent: Surface = {
  failures: geminiFailures,
  read: (body, path, query) => readGeminiClient({ ...body, path, query }),
}
/** By what stands behind the model. */
const geminiActions: Readonly<Record<string, Surface>> = {
  generateContent: geminiContent,
  streamGenerateContent: geminiContent,
  countTokens: {
    failures: geminiFailures,
    read: (body, path, query) => readGeminiCount({ ...body, path, query }),
    writeCount: writeGeminiCount,
  },
}

export function surfaceOf(path: string): Surface | undefined {
  if (Object.hasOwn(surfaces, path)) return surfaces[path]
  const action = readModelPath(path)?.action
  return action !== undefined && Object.hasOwn(geminiActions, action) ? geminiActions[action] : undefined
}
