/** Reads large replies off the serving thread. 2,048 vectors of 3,072 numbers take half a second or more. */
import type { WorkerRequest, WorkerResponse } from '../../lib/runtime/idle-worker.ts'
import { readEmbeddings, type ReadEmbeddings, type EmbeddingReading } from './reading.ts'

declare const self: Worker

self.onmessage = ({ data: { id, question } }: MessageEvent<WorkerRequest<EmbeddingReading>>) =>
  self.postMessage({ id, answer: readEmbeddings(question) } satisfies WorkerResponse<ReadEmbeddings>)
