/**
 * The readers of requests that a start does without: their schemas, and the library those are made with, would take a
 * quarter of it. Each is here soon after the start, or when it is needed first.
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

/** Loads all of them one after the other, requests having their turns between. */
export async function loadReaders(): Promise<void> {
  for (const reader of [chatBySchema, ...Object.values(readers)]) {
    await reader.load()
    await nextTurn()
  }
}
