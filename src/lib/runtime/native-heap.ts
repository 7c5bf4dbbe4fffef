/**
 * The heap of native libraries. The C library keeps memory that they have freed in its arenas for later use, and the
 * system counts it as used: 3.2 GB after one picture whose texts were unpacked.
 */
import { IdleWorker } from './idle-worker.ts'

/** It runs on its own thread, because 3 GB take more than a second. */
const trimming = new IdleWorker<'trim', 'done'>(
  () => new Worker(new URL('./native-heap-worker.ts', import.meta.url).href),
)

/** Returns free native memory to the system, after this turn. */
export function trimNativeHeap(): void {
  // If it fails, there is no alternative.
  trimming.ask('trim').catch(() => undefined)
}
