/** Whether the gateway has room for more in memory, its decoders of pictures included. */
import { trimNativeHeap } from './native-heap.ts'
import { decoders } from './picture.ts'

const CHECKED_MS = 250
/** Beyond this part of what there is, a single large answer may be too much. */
const USED_PART_MAX = 0.85
/** All threads' work waits while it is collected. */
const COLLECTED_MS = 5_000

type System = { readonly usedBytes: () => number; readonly collect: () => void }

const system: System = {
  usedBytes: () => process.memoryUsage.rss() + decoders.memoryBytes,
  collect() {
    decoders.endIdle()
    Bun.gc(true)
    // Of what that freed some is still counted in this turn, and no longer when it is asked again.
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

  /** Asked of the system four times a second at most. Garbage is no reason: it is collected before this says yes. */
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
