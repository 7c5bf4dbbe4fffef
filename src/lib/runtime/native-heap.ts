/**
 * The heap of libraries that are not written in JavaScript. The C library keeps what they have freed for whoever asks
 * next, in any of its arenas, and the system counts it as in use: 3.2 GB after one picture whose texts were unpacked.
 */
import { IdleWorker } from './idle-worker.ts'

/** On a thread of its own: 3 GB take more than a second. */
const trimming = new IdleWorker<'trim', 'done'>(
  () => new Worker(new URL('./native-heap-worker.ts', import.meta.url).href),
)

/** Has what is free in it given back to the system, after this turn. */
export function trimNativeHeap(): void {
  // Where it cannot be done there is nothing that could be done instead.
  trimming.ask('trim').catch(() => undefined)
}
