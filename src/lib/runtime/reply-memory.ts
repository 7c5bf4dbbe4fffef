/**
 * Memory for whole replies, whose length the vendors decide. It is not a SharedBudget, which refuses what does not fit:
 * the vendor bills a reply in any case, so a reply waits for memory in a queue. While at most half of the memory is
 * taken, a reply takes what has arrived of it. After that, only replies with a reservation for their full possible
 * length go on. The others wait in turn, and their vendors with them. So no reply waits for another waiting reply. One
 * reply always goes on: if none has a reservation, the first in the queue, even if all memory is taken.
 */
export class ReplyMemory {
  private readonly max: number
  private readonly accountMax: number
  private readonly stallMs: number
  private taken = 0
  /** By account, the memory of replies that are complete or have a reservation. */
  private readonly firm = new Map<string, number>()
  private readonly waiting = new Set<MemoryShare>()
  /** Replies with a reservation that are still arriving. */
  private readonly reserved = new Set<MemoryShare>()
  private watch: Timer | undefined

  /** `accountMax`: the share of one account. A single reply of an account may have any size. */
  constructor({ max, accountMax, stallMs = STALL_MS }: ReplyBounds) {
    this.max = max
    this.accountMax = accountMax
    this.stallMs = stallMs
  }

  get bytes(): number {
    return this.taken
  }

  share(account: string): MemoryShare {
    return new MemoryShare(this, account)
  }

  /** Only shares call the methods from here on. Returns whether a share that grew needs no reservation. */
  take(bytes: number): boolean {
    this.taken += bytes
    return this.taken <= this.max / 2
  }

  give(bytes: number): void {
    this.taken -= bytes
  }

  addFirm(account: string, bytes: number): void {
    const own = (this.firm.get(account) ?? 0) + bytes
    if (own > 0) this.firm.set(account, own)
    else this.firm.delete(account)
  }

  wait(share: MemoryShare): void {
    this.waiting.add(share)
    this.watch ??= setInterval(() => this.look(), this.stallMs).unref()
    this.serve()
  }

  leave(share: MemoryShare): void {
    this.waiting.delete(share)
    this.reserved.delete(share)
  }

  /** Lets waiting replies go on that now fit. */
  serve(): void {
    for (const share of this.waiting) {
      const own = this.firm.get(share.account) ?? 0
      if (own > 0 && own + share.bytes > this.accountMax) continue
      // Smaller replies behind this one must wait too, or it would wait for ever.
      if (this.reserved.size > 0 && this.taken + share.lacking > this.max) break
      this.waiting.delete(share)
      this.reserved.add(share)
      this.taken += share.lacking
      share.goOn()
    }
    if (this.waiting.size > 0) return
    clearInterval(this.watch)
    this.watch = undefined
  }

  /** Takes back unused reservations of stalled replies, for replies that wait. */
  private look(): void {
    for (const share of this.reserved) if (share.isStalled()) share.giveWay()
    this.serve()
  }
}

type ReplyBounds = { readonly max: number; readonly accountMax: number; readonly stallMs?: number }

/** A reply without a new byte for this time, and at most for twice this time, loses its unused reservation. */
const STALL_MS = 250

/** The memory that one request takes for its replies, in sequence, until its client has the answer. */
export class MemoryShare {
  readonly account: string
  bytes = 0
  /** While it waits: the memory that it may still need. */
  lacking = 0
  private readonly memory: ReplyMemory
  private state: 'growing' | 'waiting' | 'reserved' | 'over' = 'growing'
  private firm = 0
  /** The reserved memory that is not used yet. */
  private unused = 0
  /** Whether anything has arrived since the last check. */
  private isMoving = false
  private tell: (() => void) | undefined

  constructor(memory: ReplyMemory, account: string) {
    this.memory = memory
    this.account = account
  }

  /** Adds `bytes` of a reply. At most `toCome` will follow. False: read no more until `tell` is called. */
  grow(bytes: number, toCome: number, tell: () => void): boolean {
    if (this.state === 'over') return true
    const reserved = Math.min(bytes, this.unused)
    this.unused -= reserved
    this.bytes += bytes - reserved
    const isFree = this.memory.take(bytes - reserved)
    if (this.state === 'reserved') return true
    if (this.state === 'growing' && isFree) return true
    this.lacking = toCome
    if (this.state === 'growing') {
      this.state = 'waiting'
      // A waiting reply must not block other replies of its account.
      this.setFirm(0)
      this.memory.wait(this)
    }
    if (!this.isWaiting) return true
    this.tell = tell
    return false
  }

  /** Notes that something has arrived, counted or not. */
  moves(): void {
    this.isMoving = true
  }

  /** Ends the current reply, because it is complete or broke off. `lastBytes` have arrived since it last grew. */
  settle(lastBytes = 0): void {
    if (this.state === 'over') return
    this.giveWay()
    this.memory.take(lastBytes)
    this.bytes += lastBytes
    this.lacking = 0
    this.tell = undefined
    this.setFirm(this.bytes)
    this.memory.serve()
  }

  /** Drops the replies so far, which are not used. */
  forget(): void {
    this.settle()
    this.memory.give(this.bytes)
    this.bytes = 0
    this.setFirm(0)
    this.memory.serve()
  }

  /** Gives everything back and ends the share. */
  release(): void {
    this.forget()
    this.state = 'over'
  }

  /** Called by `ReplyMemory`: there is memory for the rest of the reply. */
  goOn(): void {
    const { tell } = this
    this.state = 'reserved'
    this.bytes += this.lacking
    this.unused = this.lacking
    this.lacking = 0
    this.tell = undefined
    this.isMoving = true
    this.setFirm(this.bytes)
    tell?.()
  }

  /** Whether nothing has arrived since the last call. */
  isStalled(): boolean {
    const isStalled = !this.isMoving
    this.isMoving = false
    return isStalled
  }

  /** Gives back the unused reservation. */
  giveWay(): void {
    this.memory.leave(this)
    this.memory.give(this.unused)
    this.bytes -= this.unused
    this.unused = 0
    this.state = 'growing'
    this.setFirm(0)
  }

  private get isWaiting(): boolean {
    return this.state === 'waiting'
  }

  private setFirm(bytes: number): void {
    this.memory.addFirm(this.account, bytes - this.firm)
    this.firm = bytes
  }
}
