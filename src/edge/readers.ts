/**
 * The readers of requests that a start does without: they bring their schemas, and those the library they are made
 * with, which together take as long as all the rest. Each is here soon after the start, or when it is needed first.
 */
import { checkedChat } from '../formats/chat/client.ts'
import { nextTurn } from '../lib/end-of-tick.ts'
import { late } from '../lib/late.ts'

export const readers = {
  embeddings: late(() => import('../formats/embeddings/request.ts')),
  responses: late(() => import('../formats/responses/client.ts')),
  messages: late(() => import('../formats/messages/client.ts')),
  gemini: late(() => import('../formats/gemini/surface.ts')),
  images: late(() => import('../formats/images/client.ts')),
  edits: late(() => import('../formats/images/edit.ts')),
  videos: late(() => import('../formats/videos/client.ts')),
}

/** Loads all of them, one in a turn of the event loop. */
export async function loadReaders(): Promise<void> {
  for (const reader of [checkedChat, ...Object.values(readers)]) {
    await reader.load()
    await nextTurn()
  }
}
