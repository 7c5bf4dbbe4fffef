/** The schemas of bodies with the fields that say how a request is routed. Only the documents need them. */
import { chatRequestSchema } from '../formats/chat/schema.ts'
import { documentedHints } from '../formats/core/hints.ts'
import { documentedEmbeddingRequest } from '../formats/embeddings/request.ts'
import { imageRequestSchema } from '../formats/images/request.ts'
import { countSchema, messagesSchema } from '../formats/messages/request.ts'
import { compactionRequestSchema, responsesRequestSchema } from '../formats/responses/request.ts'

export const documentedRequests = {
  chat: chatRequestSchema.extend(documentedHints),
  responses: responsesRequestSchema.extend(documentedHints),
  compaction: compactionRequestSchema.extend(documentedHints),
  messages: messagesSchema.extend(documentedHints),
  messagesCount: countSchema.extend(documentedHints),
  embeddings: documentedEmbeddingRequest.extend(documentedHints),
  images: imageRequestSchema.extend(documentedHints),
}
