/** Request bodies of the public API. They are the schemas that check requests. */
import { z } from 'zod'
import { chatRequestSchema } from '../formats/chat/schema.ts'
import { batchEmbedSchema, embedContentSchema } from '../formats/embeddings/gemini.ts'
import { embeddingRequestSchema } from '../formats/embeddings/request.ts'
import { geminiRequestSchema } from '../formats/gemini/request.ts'
import { imageRequestSchema } from '../formats/images/request.ts'
import { countSchema, messagesSchema } from '../formats/messages/request.ts'
import { compactionRequestSchema, responsesRequestSchema } from '../formats/responses/request.ts'
import { videoRequest } from '../formats/videos/request.ts'

const embeddingInput = z.union([
  z.string(),
  z.array(z.string()),
  z.array(z.int()).meta({ description: 'A text as token numbers.' }),
  z.array(z.array(z.int())),
])

/** Bodies by their name in the OpenAPI document. */
export const requestShapes = {
  ChatRequest: chatRequestSchema,
  ResponseRequest: responsesRequestSchema,
  CompactionRequest: compactionRequestSchema,
  MessageRequest: messagesSchema,
  MessageCountRequest: countSchema,
  ContentRequest: geminiRequestSchema,
  EmbeddingRequest: embeddingRequestSchema.extend({ input: embeddingInput }),
  EmbedContentRequest: embedContentSchema,
  BatchEmbedContentsRequest: batchEmbedSchema,
  ImageRequest: imageRequestSchema,
  VideoRequest: videoRequest,
} as const satisfies Readonly<Record<string, z.ZodType>>
