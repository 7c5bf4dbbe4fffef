import type { DeferredWrite } from '../store/write-queue.ts'
import type { Hold, HoldOutcome } from './ledger.ts'

export const DURABLE: HoldOutcome = { kind: 'durable' }

/** A hold on SQLite. `waiting` is its deferred write, if the hold is to be written with its end. */
export type SqliteHold = Hold & { readonly waiting?: DeferredWrite | undefined }

export const waitingOf = (hold: SqliteHold): DeferredWrite | undefined => hold.waiting

/** A hold that is written with its end, or by itself if the end takes longer. */
export class WaitingHold {
  readonly kind = 'held'
  readonly isSure = true
  readonly hold: SqliteHold
  private readonly waiting: DeferredWrite

  constructor(hold: SqliteHold, waiting: DeferredWrite) {
    this.hold = hold
    this.waiting = waiting
  }

  /** The promise is made only when it is read, which is rare. */
  get durable(): Promise<HoldOutcome> {
    return this.waiting.written.then(() => DURABLE)
  }
}
