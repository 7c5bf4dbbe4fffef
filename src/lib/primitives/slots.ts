import { FairQueue } from './fair-queue.ts'

/** The deadline of the work has passed. */
export class TooLate extends Error {}

export type SlotRequest = {
  /** The share that the work belongs to. */
  readonly share: string
  /** The deadline, by `performance.now()`. Work without a deadline has priority. */
  readonly untilMs?: number | undefined
}

const NOBODYS: SlotRequest = { share: '' }

/**
 * Bounds concurrent work, in all and for each share, separately for work with and without a deadline. The rest waits in
 * turn. If there are several places, no share takes the last one with work that has a deadline. So work that never ends
 * does not block the other shares.
 */
export class Slots {
  private readonly max: number
  private busy = 0
  private readonly first: WaitQueue
  private readonly others: WaitQueue

  constructor(max: number, shareMax = max) {
    this.max = max
    this.first = new WaitQueue(shareMax)
    this.others = new WaitQueue(Math.max(1, Math.min(shareMax, max - 1)))
  }

  /** Rejects with `TooLate` after the deadline, even during the work. The work then keeps its place to its end. */
  async run<T>(work: () => Promise<T>, { share, untilMs }: SlotRequest = NOBODYS): Promise<T> {
    if (untilMs !== undefined && untilMs <= performance.now()) throw new TooLate('it came too late')
    const line = untilMs === undefined ? this.first : this.others
    const { promise: turn, resolve } = Promise.withResolvers<void>()
    let isBegun = false
    const begin = (): void => {
      isBegun = true
      resolve()
    }
    line.waiting.add(share, begin)
    this.fill()
    // If there is room, the work begins at once, not in a later tick.
    if (!isBegun) await (untilMs === undefined ? turn : before(untilMs, turn, () => line.waiting.remove(share, begin)))
    // Work that throws before it returns a promise also leaves its place.
    const done = (async () => work())().finally(() => {
      this.busy--
      line.left(share)
      this.fill()
    })
    return untilMs === undefined ? done : before(untilMs, done)
  }

  private fill(): void {
    while (this.busy < this.max) {
      const next = this.first.next() ?? this.others.next()
      if (!next) return
      this.busy++
      next()
    }
  }
}

/** The waiting and the running work, with or without a deadline. */
class WaitQueue {
  readonly waiting = new FairQueue<() => void>()
  private readonly shareMax: number
  private readonly atWork = new Map<string, number>()

  constructor(shareMax: number) {
    this.shareMax = shareMax
  }

  /** Takes the next work, which has a place from now on until `left` is called. */
  next(): (() => void) | undefined {
    const [share, one] = this.waiting.next((name) => this.busyOf(name) < this.shareMax) ?? []
    if (share !== undefined) this.atWork.set(share, this.busyOf(share) + 1)
    return one
  }

  left(share: string): void {
    const busy = this.busyOf(share) - 1
    if (busy > 0) this.atWork.set(share, busy)
    else this.atWork.delete(share)
  }

  private busyOf(share: string): number {
    return this.atWork.get(share) ?? 0
  }
}

function before<T>(untilMs: number, done: Promise<T>, giveUp?: () => void): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => {
      giveUp?.()
      reject(new TooLate('it took too long'))
    },
    Math.max(0, untilMs - performance.now()),
  )
  return Promise.race([done, late]).finally(() => clearTimeout(timer))
}
