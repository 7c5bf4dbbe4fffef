/** Loads the readers of request bodies after the start. */
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import { publicRoutes } from './routes.ts'

/** Loads the readers of all routes one after the other. Requests run in between. */
export async function loadReaders(): Promise<void> {
  for (const { reads } of publicRoutes) {
    if (reads.kind === 'none') continue
    await reads.load()
    await nextTurn()
  }
}
