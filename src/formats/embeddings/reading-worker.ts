/** Reads large replies off the serving thread: 2,048 vectors of 3,072 numbers take it half a second and more. */
import { readEmbeddings, type ReadEmbeddings, type Reading } from './reading.ts'

declare const self: Worker

export type ReadingRequest = { readonly id: number; readonly reading: Reading }
export type ReadingReply = { readonly id: number; readonly read: ReadEmbeddings }

self.onmessage = ({ data: { id, reading } }: MessageEvent<ReadingRequest>) =>
  self.postMessage({ id, read: readEmbeddings(reading) } satisfies ReadingReply)
