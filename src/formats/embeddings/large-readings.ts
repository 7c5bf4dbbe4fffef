import { IdleWorker } from '../../lib/runtime/idle-worker.ts'
import type { ReadEmbeddings, EmbeddingReading } from './reading.ts'

const worker = new IdleWorker<EmbeddingReading, ReadEmbeddings>(
  () => new Worker(new URL('./reading-worker.ts', import.meta.url).href),
)

/** Reads embeddings off the serving thread. */
export const readLarge = (reading: EmbeddingReading): Promise<ReadEmbeddings> =>
  worker.ask(reading).catch(({ message }: Error) => ({ kind: 'failed', failure: { kind: 'garbage', message } }))
