import { FairQueue } from './fair-queue.ts'

/** It was to be done by a time that is over. */
export class TooLate extends Error {}

export type SlotClaim = {
  /** Whose work it is. */
  readonly share: string
  /** When nobody waits for it any more, by `performance.now()`. Work without such a time goes before all other. */
  readonly untilMs?: number | undefined
}

const NOBODYS: SlotClaim = { share: '' }

/**
 * Work of which only so much is done at once, and so much of it for each share, of either kind; the rest waits in turn.
 * Where there are several places, no share takes the last one with what may be given up: what never ends keeps nobody
 * else waiting.
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

  /** Rejects with `TooLate` once the time is over, in the middle of the work too, which keeps its place to its end. */
  async run<T>(work: () => Promise<T>, { share, untilMs }: SlotClaim = NOBODYS): Promise<T> {
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
    // Where there is room it begins at once, not in another tick.
    if (!isBegun) await (untilMs === undefined ? turn : before(untilMs, turn, () => line.waiting.remove(share, begin)))
    // Work that throws before there is a promise leaves its place, too.
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

/** Of what waits, and of what is done, with or without a time. */
class WaitQueue {
  readonly waiting = new FairQueue<() => void>()
  private readonly shareMax: number
  private readonly atWork = new Map<string, number>()

  constructor(shareMax: number) {
    this.shareMax = shareMax
  }

  /** The one that comes next, which has its place from now on until it has `left`. */
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
