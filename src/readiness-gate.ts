/** Why there is no new work to be taken in: a disk that does not answer, or memory that is nearly used up. Says so. */
import type { Log, LogFields } from './lib/runtime/log.ts'
import type { MemoryRoom } from './lib/runtime/memory-room.ts'
import type { Store } from './store/store.ts'

/** A disk that has not answered for so long takes no new work: it gives no error, and all would wait for ever. */
const STALL_MS = 2_000
const TOLD_MS = 10_000

export class ReadinessGate {
  private readonly store: Store
  private readonly memory: MemoryRoom
  private readonly log: Log
  private toldMs = Number.NEGATIVE_INFINITY

  constructor(store: Store, memory: MemoryRoom, log: Log) {
    this.store = store
    this.memory = memory
    this.log = log
  }

  /** What would be taken in now could not be written down, or held: undefined where it can. */
  reason(): string | undefined {
    const waitingMs = this.store.waitingMs()
    if (waitingMs >= STALL_MS) {
      this.tell('store.stalled', { waitingMs: Math.round(waitingMs), queued: this.store.queued() })
      return 'the disk does not take what is written'
    }
    if (!this.memory.isShort) return undefined
    this.tell('memory.short', { usedBytes: this.memory.usedBytes, bytesMax: this.memory.bytesMax })
    return 'the memory is nearly used up'
  }

  /** At first and every ten seconds. */
  private tell(event: string, fields: LogFields): void {
    const nowMs = performance.now()
    if (nowMs - this.toldMs < TOLD_MS) return
    this.toldMs = nowMs
    this.log('error', event, fields)
  }
}
