/** A disk that does not answer: it gives no error, and what waits for it would wait for ever. */
import type { Log } from './lib/log.ts'
import type { Store } from './store/store.ts'

/** A disk that has not answered for so long takes no new work. */
const STALL_MS = 2_000
const STALL_TOLD_MS = 10_000

/** What would be taken in now could not be written down: undefined where it can. */
export const stalled = (store: Store): string | undefined =>
  store.waitingMs() < STALL_MS ? undefined : 'the disk does not take what is written'

/** Says so, at first and every ten seconds. */
export class StallLog {
  private readonly store: Store
  private readonly log: Log
  private toldMs = Number.NEGATIVE_INFINITY

  constructor(store: Store, log: Log) {
    this.store = store
    this.log = log
  }

  look(): void {
    const nowMs = performance.now()
    if (stalled(this.store) === undefined || nowMs - this.toldMs < STALL_TOLD_MS) return
    this.toldMs = nowMs
    this.log('error', 'store.stalled', { waitingMs: Math.round(this.store.waitingMs()), queued: this.store.queued() })
  }
}
