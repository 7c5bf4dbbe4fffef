import { IdleWorker } from '../../lib/idle-worker.ts'
import type { ReadEmbeddings, Reading } from './reading.ts'

const worker = new IdleWorker<Reading, ReadEmbeddings>(
  () => new Worker(new URL('./reading-worker.ts', import.meta.url).href),
)

/** Reads embeddings off the serving thread. */
export const readLarge = (reading: Reading): Promise<ReadEmbeddings> =>
  worker.ask(reading).catch(({ message }: Error) => ({ kind: 'failed', failure: { kind: 'garbage', message } }))
