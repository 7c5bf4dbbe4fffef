/** Tells whether the gateway and its picture decoders have memory for more work. */
import { trimNativeHeap } from './native-heap.ts'
import { decoders } from './picture.ts'

const CHECKED_MS = 250
/** Beyond this part of all memory, a single large answer may be too much. */
const USED_PART_MAX = 0.85
/** All threads wait during a collection, so there is at most one in this time. */
const COLLECTED_MS = 5_000

type System = { readonly usedBytes: () => number; readonly collect: () => void }

const system: System = {
  usedBytes: () => process.memoryUsage.rss() + decoders.memoryBytes,
  collect() {
    decoders.endIdle()
    Bun.gc(true)
    // Some of the freed memory still counts in this turn, but no longer at the next check.
    trimNativeHeap()
  },
}

export class MemoryRoom {
  readonly bytesMax: number
  private readonly system: System
  private checkedMs = Number.NEGATIVE_INFINITY
  private collectedMs = Number.NEGATIVE_INFINITY
  private found = false

  constructor(bytesMax: number, ofSystem = system) {
    this.bytesMax = bytesMax
    this.system = ofSystem
  }

  get usedBytes(): number {
    return this.system.usedBytes()
  }

  /** The system is asked at most four times a second. Garbage is collected before the answer is yes. */
  get isShort(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.checkedMs < CHECKED_MS) return this.found
    this.checkedMs = nowMs
    this.found = this.isFull
    if (!this.found || nowMs - this.collectedMs < COLLECTED_MS) return this.found
    this.collectedMs = nowMs
    this.system.collect()
    return (this.found = this.isFull)
  }

  private get isFull(): boolean {
    return this.usedBytes > this.bytesMax * USED_PART_MAX
  }
}
