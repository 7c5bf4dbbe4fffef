/**
 * Loads the request readers after the start. Their schemas and the schema library would take a quarter of the start.
 * Each reader is loaded soon after the start, or at its first use.
 */
import { chatBySchema } from '../formats/chat/client.ts'
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import { late } from '../lib/primitives/lazy.ts'

export const readers = {
  embeddings: late(() => import('../formats/embeddings/request.ts')),
  responses: late(() => import('../formats/responses/client.ts')),
  messages: late(() => import('../formats/messages/client.ts')),
  geminiEmbeddings: late(() => import('../formats/embeddings/gemini.ts')),
  gemini: late(() => import('../formats/gemini/endpoint.ts')),
  images: late(() => import('../formats/images/client.ts')),
  edits: late(() => import('../formats/images/edit.ts')),
  videos: late(() => import('../formats/videos/client.ts')),
}

/** Loads the readers one after the other. Requests run in between. */
export async function loadReaders(): Promise<void> {
  for (const reader of [chatBySchema, ...Object.values(readers)]) {
    await reader.load()
    await nextTurn()
  }
}
