/**
 * Memory for whole replies, which are as long as their vendors like. It is not a SharedBudget, which refuses what does
 * not fit: the vendor bills a reply in any case, so it waits for room, and rooms are reserved in a queue. While no more
 * than half of the memory is taken, a reply takes what it has come to. After that only those go on that have room for
 * all they can become; the rest wait in turn, and their vendors with them. So nobody waits for somebody who waits, and
 * there is always one that goes on: the first in line where nobody has room, even if all of it is taken.
 */
export class ReplyMemory {
  private readonly max: number
  private readonly shareMax: number
  private readonly stallMs: number
  private taken = 0
  /** By account, what those have that are complete, or have room for all they can become. */
  private readonly firm = new Map<string, number>()
  private readonly waiting = new Set<ReplyClaim>()
  /** Those that have room, and are still arriving. */
  private readonly reserved = new Set<ReplyClaim>()
  private watch: Timer | undefined

  /** `shareMax`: of one account, which may have a single reply of any size. */
  constructor({ max, shareMax, stallMs = STALL_MS }: ReplyBounds) {
    this.max = max
    this.shareMax = shareMax
    this.stallMs = stallMs
  }

  get bytes(): number {
    return this.taken
  }

  claim(account: string): ReplyClaim {
    return new ReplyClaim(this, account)
  }

  /** The methods from here on are for claims alone. Whether one that grew needs to ask for nothing. */
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

  wait(claim: ReplyClaim): void {
    this.waiting.add(claim)
    this.watch ??= setInterval(() => this.look(), this.stallMs).unref()
    this.serve()
  }

  leave(claim: ReplyClaim): void {
    this.waiting.delete(claim)
    this.reserved.delete(claim)
  }

  /** Lets those go on that now can. */
  serve(): void {
    for (const claim of this.waiting) {
      const own = this.firm.get(claim.account) ?? 0
      if (own > 0 && own + claim.bytes > this.shareMax) continue
      // However small those behind it are: it would wait for ever.
      if (this.reserved.size > 0 && this.taken + claim.lacking > this.max) break
      this.waiting.delete(claim)
      this.reserved.add(claim)
      this.taken += claim.lacking
      claim.goOn()
    }
    if (this.waiting.size > 0) return
    clearInterval(this.watch)
    this.watch = undefined
  }

  /** Whoever has room and does not use it makes room for those that wait. */
  private look(): void {
    for (const claim of this.reserved) if (claim.isStalled()) claim.giveWay()
    this.serve()
  }
}

type ReplyBounds = { readonly max: number; readonly shareMax: number; readonly stallMs?: number }

/** A reply of which not a byte has come for so long, and at most for twice as long, gives way. */
const STALL_MS = 250

/** What a call takes for the replies it gets, one after the other, until its client has the answer. */
export class ReplyClaim {
  readonly account: string
  bytes = 0
  /** While it waits: what it may still come to need. */
  lacking = 0
  private readonly memory: ReplyMemory
  private state: 'growing' | 'waiting' | 'reserved' | 'over' = 'growing'
  private firm = 0
  /** Of what is reserved, what has not come yet. */
  private unused = 0
  /** Whether anything has come since it was looked at. */
  private isMoving = false
  private tell: (() => void) | undefined

  constructor(memory: ReplyMemory, account: string) {
    this.memory = memory
    this.account = account
  }

  /** So much more of a reply is there, and so much at most is to come. False: no more may, until `tell` is called. */
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
      // What waits must keep nobody of its account waiting.
      this.setFirm(0)
      this.memory.wait(this)
    }
    if (!this.isWaiting) return true
    this.tell = tell
    return false
  }

  /** Something has come, counted or not. */
  moves(): void {
    this.isMoving = true
  }

  /** The reply at hand is complete, or broke off. */
  settle(): void {
    if (this.state === 'over') return
    this.giveWay()
    this.lacking = 0
    this.tell = undefined
    this.setFirm(this.bytes)
    this.memory.serve()
  }

  /** The replies so far are of no use, and forgotten. */
  forget(): void {
    this.settle()
    this.memory.give(this.bytes)
    this.bytes = 0
    this.setFirm(0)
    this.memory.serve()
  }

  /** Gives everything back, for good. */
  release(): void {
    this.forget()
    this.state = 'over'
  }

  /** By its memory: it has room for all that is to come. */
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

  /** Whether nothing has come since this was asked last. */
  isStalled(): boolean {
    const isStalled = !this.isMoving
    this.isMoving = false
    return isStalled
  }

  /** Does without the room that it has not used. */
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
