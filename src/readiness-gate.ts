/** Refuses new work while the disk or the database does not answer or memory is nearly used up, and logs it. */
import { limit } from './lib/primitives/limit.ts'
import type { Log, LogFields } from './lib/runtime/log.ts'
import type { MemoryRoom } from './lib/runtime/memory-room.ts'
import type { Store } from './store/store.ts'

/** After this time without an answer from the disk, new work is refused. A stalled disk reports no error. */
const STALL_MS = limit('diskStallMs', 2_000, 'New work gets 503 until the disk has answered.')
/** After this time without news from the other instances, a key may have been revoked that would still be admitted. */
const UNREAD_MS = limit('changesUnreadMs', 1_500, 'New work gets 503 until the changes of other instances are read.')
const TOLD_MS = 10_000

export const NO_DATABASE = 'the database does not answer'

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

  /** The reason why new work cannot be accepted, or undefined if it can. */
  reason(): string | undefined {
    const waitingMs = this.store.waitingMs()
    if (waitingMs >= STALL_MS) {
      this.tell('store.stalled', { waitingMs: Math.round(waitingMs), queued: this.store.queued() })
      return this.store.instance === undefined ? 'the disk does not respond to writes' : NO_DATABASE
    }
    const unreadMs = this.store.changes.unreadMs()
    if (unreadMs >= UNREAD_MS) {
      this.tell('store.unread', { unreadMs: Math.round(unreadMs) })
      return NO_DATABASE
    }
    if (!this.memory.isShort) return undefined
    this.tell('memory.short', { usedBytes: this.memory.usedBytes, bytesMax: this.memory.bytesMax })
    return 'memory is nearly used up'
  }

  /** Logs at once, and then at most every ten seconds. */
  private tell(event: string, fields: LogFields): void {
    const nowMs = performance.now()
    if (nowMs - this.toldMs < TOLD_MS) return
    this.toldMs = nowMs
    this.log('error', event, fields)
  }
}
