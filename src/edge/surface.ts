/** The endpoints that generate: where they are, whose dialect they speak, how their requests are read. */
import type { Failure } from '../domain/failure.ts'
import { readChatClient } from '../formats/chat/client.ts'
import { writeFailure } from '../formats/chat/failure.ts'
import type { ClientRequest, FailureWriter } from '../formats/format.ts'
import { readMessagesClient, readMessagesCount } from '../formats/messages/client.ts'
import { messagesFailureWriter } from '../formats/messages/failure.ts'

export type ReadClientRequest =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

export type Surface = {
  readonly failures: FailureWriter
  /**
   * Reads a body that is valid UTF-8. `path` is that of the request, for dialects that put the model there; `header`
   * gives those of its headers that are part of the dialect.
   */
  read(body: { readonly text: string; readonly bytes: number }, path: string, header: ReadHeader): ReadClientRequest
  /** Where the tokens of a request are only to be counted: how that is answered. */
  readonly count?: (inputTokens: number) => object
  /** Where clients look for the request's id beside `x-request-id`. */
  readonly requestIdHeader?: 'request-id'
}

type ReadHeader = (name: string) => string | undefined

export const chatFailureWriter: FailureWriter = { write: writeFailure }

/** By path; those whose path holds the model are found by `surfaceOf`. */
const surfaces: Readonly<Record<string, Surface>> = {
  '/v1/chat/completions': { failures: chatFailureWriter, read: ({ text, bytes }) => readChatClient(text, bytes) },
  '/v1/messages': {
    failures: messagesFailureWriter,
    requestIdHeader: 'request-id',
    read: ({ text, bytes }, _path, header) => readMessagesClient(text, bytes, header('anthropic-beta')),
  },
  '/v1/messages/count_tokens': {
    failures: messagesFailureWriter,
    requestIdHeader: 'request-id',
    read: ({ text, bytes }) => readMessagesCount(text, bytes),
    count: (inputTokens) => ({ input_tokens: inputTokens }),
  },
}

export const surfaceOf = (path: string): Surface | undefined =>
  Object.hasOwn(surfaces, path) ? surfaces[path] : undefined
