/** The endpoints that generate: where they are, whose dialect they speak, how their requests are read. */
import type { Failure } from '../domain/failure.ts'
import { readChatClient } from '../formats/chat/client.ts'
import { writeFailure } from '../formats/chat/failure.ts'
import type { ClientRequest, FailureWriter } from '../formats/format.ts'
import { readResponsesClient } from '../formats/responses/client.ts'

export type ReadClientRequest =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

export type Surface = {
  readonly failures: FailureWriter
  /** Reads a body that is valid UTF-8. `path` is that of the request, for dialects that put the model there. */
  read(body: { readonly text: string; readonly bytes: number }, path: string): ReadClientRequest
}

export const chatFailureWriter: FailureWriter = { write: writeFailure }

/** By path; those whose path holds the model are found by `surfaceOf`. */
const surfaces: Readonly<Record<string, Surface>> = {
  '/v1/chat/completions': { failures: chatFailureWriter, read: ({ text, bytes }) => readChatClient(text, bytes) },
  '/v1/responses': { failures: chatFailureWriter, read: ({ text, bytes }) => readResponsesClient(text, bytes) },
}

export const surfaceOf = (path: string): Surface | undefined =>
  Object.hasOwn(surfaces, path) ? surfaces[path] : undefined
