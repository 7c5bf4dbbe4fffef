/** Routes of text: chat completions, responses, messages and Google's content. */
import { chatBySchema, readChatClient } from '../../formats/chat/client.ts'
import { hintFields, messagesHintFields } from '../../formats/core/hint-fields.ts'
import { late } from '../../lib/primitives/lazy.ts'
import { jsonBody, noBody, type JsonBody } from '../request-body.ts'
import { generate } from '../generate.ts'
import type { DocumentedRequest, PublicRoute } from '../route.ts'
import { cancelResponse, deleteResponse, inputBytes, listInputItems, showResponse } from '../state.ts'
import type { FreeRoutes } from '../unbilled-routes.ts'
import type { RequestContext } from '../request-context.ts'
import { googleAction } from './google-action.ts'
import { listParameters } from './list-parameters.ts'

const hello = [{ role: 'user', content: 'Hello' }]

const documents = async () => (await import('../documented-requests.ts')).documentedRequests

const responsesReader = late(() => import('../../formats/responses/client.ts'))
const messagesReader = late(() => import('../../formats/messages/client.ts'))
const geminiReader = late(() => import('../../formats/gemini/endpoint.ts'))

const content = jsonBody(geminiReader, ({ readGeminiClient }, body, { head: { path, query } }) =>
  readGeminiClient({ ...body, path, query }),
)

const responseRequest: DocumentedRequest = {
  shape: 'ResponseRequest',
  schema: async () => (await documents()).responses,
  example: { model: 'sandbox-chat', input: 'Hello' },
}
const contentRequest: DocumentedRequest = {
  shape: 'ContentRequest',
  schema: async () => (await import('../../formats/gemini/request.ts')).geminiRequestSchema,
  example: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
}

/** Answers with the number of tokens in the format of a dialect. */
const countAs =
  (write: (tokens: number) => object) =>
  (free: FreeRoutes, context: RequestContext, reads: JsonBody): Promise<void> =>
    free.count(context, reads, write)

const chat: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    // The reader of ordinary requests is there at the start. Other requests need the schema.
    reads: {
      kind: 'json',
      read: ({ text, bytes }) => readChatClient(text, bytes),
      hints: hintFields,
      bytesMax: undefined,
      load: chatBySchema.load,
    },
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'chat.completions',
    documentation: {
      tag: 'Text',
      summary: 'Create a chat completion.',
      request: {
        shape: 'ChatRequest',
        schema: async () => (await documents()).chat,
        example: { model: 'sandbox-chat', messages: hello, max_tokens: 50 },
      },
      answer: 'ChatCompletion',
      stream: 'chunks (`chat.completion.chunk`), then `data: [DONE]`',
    },
  },
]

const responses: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/responses',
    reads: jsonBody(responsesReader, (one, { text, bytes }) => one.readResponsesClient(text, bytes), {
      hints: hintFields,
    }),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'responses',
    documentation: {
      tag: 'Text',
      summary: 'Create a response. The gateway stores it for 30 days unless `store` is false.',
      request: responseRequest,
      answer: 'Response',
      stream: 'events (`response.created` … `response.completed`), then `data: [DONE]`',
      failures: ['previous_response_not_found'],
    },
  },
  {
    method: 'POST',
    path: '/v1/responses/compact',
    reads: jsonBody(responsesReader, (one, { text, bytes }) => one.readCompactionClient(text, bytes), {
      hints: hintFields,
    }),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'responses',
    documentation: {
      tag: 'Text',
      summary: 'Compact a conversation into the user’s messages and one item for everything else.',
      request: {
        shape: 'CompactionRequest',
        schema: async () => (await documents()).compaction,
        example: { model: 'sandbox-chat', input: 'Hello' },
      },
      answer: 'Compaction',
      failures: ['previous_response_not_found'],
    },
  },
  {
    method: 'GET',
    path: '/v1/responses/{id}',
    reads: noBody,
    limits: 'free_reads',
    handler: showResponse,
    documentation: {
      tag: 'Text',
      summary: 'Get a stored response. With `?stream=true`, get its events again.',
      answer: 'Response',
      parameters: [
        { name: 'stream', in: 'query', schema: { type: 'boolean', default: false } },
        { name: 'starting_after', in: 'query', schema: { type: 'integer', minimum: -1, default: -1 } },
        { name: 'include', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
      ],
      failures: ['not_found', 'invalid_value'],
    },
  },
  {
    method: 'GET',
    path: '/v1/responses/{id}/input_items',
    reads: noBody,
    limits: 'free_reads',
    bytes: inputBytes,
    handler: listInputItems,
    documentation: {
      tag: 'Text',
      summary: 'List the input items of a stored response.',
      answer: 'InputItems',
      parameters: listParameters,
      failures: ['not_found', 'invalid_value'],
    },
  },
  {
    method: 'POST',
    path: '/v1/responses/{id}/cancel',
    reads: noBody,
    limits: 'free_reads',
    handler: cancelResponse,
    documentation: {
      tag: 'Text',
      summary: 'Cancel a background response.',
      answer: 'Response',
      failures: ['not_found', 'invalid_value'],
    },
  },
  {
    method: 'DELETE',
    path: '/v1/responses/{id}',
    reads: noBody,
    limits: 'free_reads',
    handler: deleteResponse,
    documentation: { tag: 'Text', summary: 'Delete a stored response.', answer: 'Deletion', failures: ['not_found'] },
  },
  {
    method: 'POST',
    path: '/v1/responses/input_tokens',
    reads: jsonBody(responsesReader, (one, { text, bytes }) => one.readCountedClient(text, bytes)),
    limits: 'free_counts',
    handler: (free, context, reads) => free.countResponse(context, reads),
    documentation: {
      tag: 'Text',
      summary: 'Count the input tokens of a request.',
      request: responseRequest,
      answer: 'InputTokens',
      failures: ['previous_response_not_found'],
    },
  },
]

const messages: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/messages',
    reads: jsonBody(
      messagesReader,
      (one, { text, bytes }, head) => one.readMessagesClient(text, bytes, head.header('anthropic-beta')),
      { hints: messagesHintFields },
    ),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'messages',
    documentation: {
      tag: 'Text',
      summary: 'Create a message in Anthropic’s format, with any model.',
      request: {
        shape: 'MessageRequest',
        schema: async () => (await documents()).messages,
        example: { model: 'sandbox-chat', max_tokens: 50, messages: hello },
      },
      answer: 'Message',
      stream: 'events (`message_start` … `message_stop`)',
    },
  },
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    reads: jsonBody(messagesReader, (one, { text, bytes }) => one.readMessagesCount(text, bytes), {
      hints: messagesHintFields,
    }),
    limits: 'free_counts',
    handler: countAs((tokens) => ({ input_tokens: tokens })),
    documentation: {
      tag: 'Text',
      summary: 'Count the input tokens of a message.',
      request: {
        shape: 'MessageCountRequest',
        schema: async () => (await documents()).messagesCount,
        example: { model: 'sandbox-chat', messages: hello },
      },
      answer: 'InputTokens',
    },
  },
]

const google: readonly PublicRoute[] = [
  {
    method: 'POST',
    ...googleAction('generateContent'),
    reads: content,
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'gemini',
    documentation: {
      tag: 'Text',
      summary: 'Generate content in Gemini’s format, with any model.',
      request: contentRequest,
      answer: 'Content',
    },
  },
  {
    method: 'POST',
    ...googleAction('streamGenerateContent'),
    reads: content,
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'gemini',
    documentation: {
      tag: 'Text',
      summary: 'Generate content in Gemini’s format as a stream of server-sent events.',
      query: { alt: 'sse' },
      request: contentRequest,
      answer: 'events',
      stream: 'events in the shape of the whole answer',
    },
  },
  {
    method: 'POST',
    ...googleAction('countTokens'),
    reads: jsonBody(geminiReader, ({ readGeminiCount }, body, { head: { path, query } }) =>
      readGeminiCount({ ...body, path, query }),
    ),
    limits: 'free_counts',
    handler: countAs((totalTokens) => ({ totalTokens })),
    documentation: {
      tag: 'Text',
      summary: 'Count the input tokens of content in Gemini’s format.',
      request: contentRequest,
      answer: 'TotalTokens',
    },
  },
]

export const textRoutes: readonly PublicRoute[] = [...chat, ...responses, ...messages, ...google]
