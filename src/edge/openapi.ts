/**
 * The OpenAPI 3.1 document of the public API. Requests are described by the schemas that check them; every example is
 * sent to a server in a test, and its answer held to what is said here.
 */
import { z } from 'zod'
import { chatRequestSchema } from '../formats/chat/schema.ts'
import { embeddingRequestSchema } from '../formats/embeddings/request.ts'
import { geminiRequestSchema } from '../formats/gemini/request.ts'
import { batchEmbedSchema, embedContentSchema } from '../formats/embeddings/gemini.ts'
import { imageRequestSchema } from '../formats/images/request.ts'
import { countSchema, messagesSchema } from '../formats/messages/request.ts'
import { compactionRequestSchema, responsesRequestSchema } from '../formats/responses/request.ts'
import { videoRequest } from '../formats/videos/request.ts'
import * as answers from './public-answers.ts'
import { envelopeOf, type Envelope } from './envelope.ts'

type Body =
  | { readonly type: 'json'; readonly schema: z.ZodType; readonly example: object }
  /** A form with files; said by hand. */
  | { readonly type: 'form'; readonly schema: object }

export type DocumentedRoute = {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly body?: Body
  /** `events`: always a stream. */
  readonly answer: z.ZodType | 'file' | 'events'
  /** The model in its address, where that is not one of text. */
  readonly model?: string
  /** What the address must have behind it. */
  readonly query?: Readonly<Record<string, string>>
  /** What a stream of it is made of, where there is one. */
  readonly stream?: string
  /** Anybody may ask who has the address. */
  readonly open?: true
}

const json = (schema: z.ZodType, example: object): Body => ({ type: 'json', schema, example })
const hello = [{ role: 'user', content: 'Hello' }]
const embeddingInput = z.union([
  z.string(),
  z.array(z.string()),
  z.array(z.int()).meta({ description: 'a text as token numbers' }),
  z.array(z.array(z.int())),
])
const film = { model: 'sandbox-video-fast', content: [{ type: 'text', text: 'a lighthouse' }], duration: 4 }
const file = { type: 'string', format: 'binary' }

export const documentedRoutes: readonly DocumentedRoute[] = [
  {
    method: 'post',
    path: '/v1/chat/completions',
    tag: 'Text',
    summary: 'A chat completion.',
    body: json(chatRequestSchema, { model: 'sandbox-chat', messages: hello, max_tokens: 50 }),
    answer: answers.completion,
    stream: 'chunks (`chat.completion.chunk`), then `data: [DONE]`',
  },
  {
    method: 'post',
    path: '/v1/responses',
    tag: 'Text',
    summary: 'A turn of a conversation, which the gateway keeps for 30 days unless store is false.',
    body: json(responsesRequestSchema, { model: 'sandbox-chat', input: 'Hello' }),
    answer: answers.response,
    stream: 'events (`response.created` … `response.completed`), then `data: [DONE]`',
  },
  {
    method: 'post',
    path: '/v1/responses/compact',
    tag: 'Text',
    summary: 'A conversation in short, to go on from: what the user has said, and one item for all else.',
    body: json(compactionRequestSchema, { model: 'sandbox-chat', input: 'Hello' }),
    answer: answers.compaction,
  },
  {
    method: 'get',
    path: '/v1/responses/{id}',
    tag: 'Text',
    summary: 'A turn that is kept; with ?stream=true its events again.',
    answer: answers.response,
  },
  {
    method: 'get',
    path: '/v1/responses/{id}/input_items',
    tag: 'Text',
    summary: 'What a turn brought.',
    answer: answers.items,
  },
  {
    method: 'post',
    path: '/v1/responses/{id}/cancel',
    tag: 'Text',
    summary: 'Call off a response in the background.',
    answer: answers.response,
  },
  { method: 'delete', path: '/v1/responses/{id}', tag: 'Text', summary: 'Forget a turn.', answer: answers.deleted },
  {
    method: 'post',
    path: '/v1/responses/input_tokens',
    tag: 'Text',
    summary: 'How many tokens a request would put in. Costs nothing.',
    body: json(responsesRequestSchema, { model: 'sandbox-chat', input: 'Hello' }),
    answer: answers.countedTokens,
  },
  {
    method: 'post',
    path: '/v1/messages',
    tag: 'Text',
    summary: 'A message in the dialect of Anthropic, with any model.',
    body: json(messagesSchema, { model: 'sandbox-chat', max_tokens: 50, messages: hello }),
    answer: answers.message,
    stream: 'events (`message_start` … `message_stop`)',
  },
  {
    method: 'post',
    path: '/v1/messages/count_tokens',
    tag: 'Text',
    summary: 'How many tokens a message would put in. Costs nothing.',
    body: json(countSchema, { model: 'sandbox-chat', messages: hello }),
    answer: answers.countedTokens,
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:generateContent',
    tag: 'Text',
    summary: 'Content in the dialect of Gemini, with any model.',
    body: json(geminiRequestSchema, { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    answer: answers.content,
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:streamGenerateContent',
    tag: 'Text',
    summary: 'The same as a stream of server-sent events.',
    query: { alt: 'sse' },
    body: json(geminiRequestSchema, { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    answer: 'events',
    stream: 'events of the same shape',
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:countTokens',
    tag: 'Text',
    summary: 'How many tokens content would put in. Costs nothing.',
    body: json(geminiRequestSchema, { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    answer: answers.countedByGemini,
  },
  {
    method: 'post',
    path: '/v1/embeddings',
    tag: 'Embeddings',
    summary: 'Vectors of a text, of texts, or of token arrays.',
    body: json(embeddingRequestSchema.extend({ input: embeddingInput }), {
      model: 'sandbox-embedding-small',
      input: ['one', 'two'],
    }),
    answer: answers.embeddings,
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:embedContent',
    tag: 'Embeddings',
    summary: 'The vector of a text, in the dialect of Gemini.',
    model: 'sandbox-embedding-small',
    body: json(embedContentSchema, { content: { parts: [{ text: 'one' }] } }),
    answer: answers.embeddingOfGemini,
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:batchEmbedContents',
    tag: 'Embeddings',
    summary: 'Vectors of texts, in the dialect of Gemini.',
    model: 'sandbox-embedding-small',
    body: json(batchEmbedSchema, { requests: [{ content: { parts: [{ text: 'one' }] } }] }),
    answer: answers.embeddingsOfGemini,
  },
  {
    method: 'post',
    path: '/v1/images/generations',
    tag: 'Images',
    summary: 'Images of a prompt.',
    body: json(imageRequestSchema, { model: 'sandbox-image', prompt: 'a lighthouse', size: '1024x1024' }),
    answer: answers.images,
    stream: 'partial images and the completed one',
  },
  {
    method: 'post',
    path: '/v1/images/edits',
    tag: 'Images',
    summary: 'Images made of images, with a mask of what to repaint.',
    body: {
      type: 'form',
      schema: {
        type: 'object',
        required: ['model', 'prompt', 'image'],
        properties: {
          model: { type: 'string' },
          prompt: { type: 'string' },
          image: { ...file, description: 'PNG, JPEG or WebP; several as image[]' },
          mask: { ...file, description: 'PNG or WebP; transparent where to repaint; as large as the first image' },
          size: { type: 'string' },
          quality: { type: 'string' },
          stream: { type: 'string', enum: ['true', 'false'] },
        },
      },
    },
    answer: answers.images,
    stream: 'partial images and the completed one',
  },
  {
    method: 'get',
    path: '/v1/images/files/{id}',
    tag: 'Images',
    summary: 'An image that was asked for as a URL, for 60 minutes.',
    answer: 'file',
    open: true,
  },
  {
    method: 'post',
    path: '/v1/videos',
    tag: 'Videos',
    summary: 'A task that makes a video.',
    body: json(videoRequest, film),
    answer: answers.videoAnswer,
  },
  { method: 'get', path: '/v1/videos', tag: 'Videos', summary: 'The tasks of the account.', answer: answers.videos },
  {
    method: 'get',
    path: '/v1/videos/{id}',
    tag: 'Videos',
    summary: 'A task: how far it is, and where its video is.',
    answer: answers.videoAnswer,
  },
  {
    method: 'delete',
    path: '/v1/videos/{id}',
    tag: 'Videos',
    summary: 'Delete a task that has ended, and its video.',
    answer: answers.deleted,
  },
  {
    method: 'get',
    path: '/v1/videos/{id}/content',
    tag: 'Videos',
    summary: 'The video, whole or in part (Range), once it is made.',
    answer: 'file',
    open: true,
  },
  {
    method: 'post',
    path: '/v1/video/generations',
    tag: 'Videos',
    summary: 'The same as POST /v1/videos, for clients that ask there.',
    body: json(videoRequest, film),
    answer: answers.videoAnswer,
  },
  {
    method: 'get',
    path: '/v1/video/generations/{id}',
    tag: 'Videos',
    summary: 'A task in the envelope that those clients read.',
    answer: answers.videoEnvelope,
  },
  {
    method: 'get',
    path: '/v1/models',
    tag: 'Account',
    summary:
      'The models that this key may use, in the words of OpenAI; with `anthropic-version` or `x-api-key` in those of ' +
      'Anthropic, by pages (`limit`, `after_id`, `before_id`); with `x-goog-api-key` in those of Gemini.',
    answer: z.union([answers.models, answers.modelsOfAnthropic, answers.modelsOfGemini]),
  },
  {
    method: 'get',
    path: '/v1/models/{model}',
    tag: 'Account',
    summary: 'One model, in the same words.',
    answer: z.union([answers.model, answers.modelOfAnthropic, answers.modelOfGemini]),
  },
  {
    method: 'get',
    path: '/v1beta/models',
    tag: 'Account',
    summary: 'The same in the dialect of Gemini (`pageSize`, `pageToken`).',
    answer: answers.modelsOfGemini,
  },
  {
    method: 'get',
    path: '/v1beta/models/{model}',
    tag: 'Account',
    summary: 'One model in the dialect of Gemini.',
    answer: answers.modelOfGemini,
  },
  {
    method: 'get',
    path: '/v1/balance',
    tag: 'Account',
    summary: 'What the account has, and how key and account stand with their limits. Works at zero.',
    answer: answers.balance,
  },
]

/** A schema as JSON; what only code can check is left out. */
const schemaOf = (shape: z.ZodType, io: 'input' | 'output'): object => {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' })
  return schema
}

const bodyOf = (body: Body): object =>
  body.type === 'json'
    ? { 'application/json': { schema: schemaOf(body.schema, 'input'), example: body.example } }
    : { 'multipart/form-data': { schema: body.schema } }

const errorNames: Record<Envelope['dialect'], string> = {
  chat: 'Error',
  messages: 'MessagesError',
  gemini: 'GeminiError',
}

const ofFile = { file: { '*/*': { schema: file } }, events: {} }

function operationOf({ path, model, query = {}, tag, summary, body, answer, stream, open }: DocumentedRoute): object {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      schema: { type: 'string' },
      ...(model && { example: model }),
    })),
    ...Object.entries(query).map(([name, value]) => ({ name, in: 'query', schema: { const: value } })),
  ].map((parameter) => ({ ...parameter, required: true }))
  const whole =
    typeof answer === 'string' ? ofFile[answer] : { 'application/json': { schema: schemaOf(answer, 'output') } }
  const streamed =
    stream === undefined ? {} : { 'text/event-stream': { schema: { type: 'string', description: stream } } }
  return {
    tags: [tag],
    summary,
    ...(open ? { security: [] } : {}),
    parameters,
    ...(body ? { requestBody: { required: true, content: bodyOf(body) } } : {}),
    responses: {
      200: { description: 'The answer.', content: { ...whole, ...streamed } },
      default: {
        description: 'Refused, and why; in the envelope of the dialect.',
        content: {
          'application/json': { schema: { $ref: `#/components/schemas/${errorNames[envelopeOf(path).dialect]}` } },
        },
      },
    },
  }
}

export function publicOpenApi(version: string): object {
  const paths = Object.groupBy(documentedRoutes, ({ path }) => path)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version,
      description:
        'One base URL and one key for models of many vendors, in the dialects that their clients speak. A call is held ' +
        'at the most it may cost and charged at what it was. Guides: [what is added to the API](docs/api), ' +
        '[errors](docs/errors), [dialects](docs/dialects), [operations](docs/operations).',
    },
    // Relative to this document: the same behind a proxy that puts it below a path.
    servers: [{ url: '.' }],
    security: [{ key: [] }],
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, all = []]) => [
        path,
        Object.fromEntries(all.map((one) => [one.method, operationOf(one)])),
      ]),
    ),
    components: {
      schemas: Object.fromEntries(
        Object.entries(answers.failures).map(([dialect, shape]) => [
          errorNames[dialect as Envelope['dialect']],
          schemaOf(shape, 'output'),
        ]),
      ),
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'an API key, `sk-tg-…`' } },
    },
  }
}
