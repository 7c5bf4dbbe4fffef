/** It was to be done by a time that is over. */
export class TooLate extends Error {}

export type Claim = {
  /** Whose work it is. */
  readonly share: string
  /** When nobody waits for it any more, by `performance.now()`. Work without such a time goes before all other. */
  readonly untilMs?: number | undefined
}

/**
 * Work of which only so much is done at once. Shares take turns, and none takes the last place with what may be given
 * up: who wants much of it, or what never ends, keeps nobody else waiting.
 */
export class Turns {
  private readonly max: number
  private busy = 0
  private readonly first: Line
  private readonly others: Line

  constructor(max: number) {
    this.max = max
    this.first = new Line(max)
    this.others = new Line(Math.max(1, max - 1))
  }

  /** Rejects with `TooLate` once the time is over, in the middle of the work too, which keeps its place to its end. */
  async run<T>(work: () => Promise<T>, { share, untilMs }: Claim): Promise<T> {
    const line = untilMs === undefined ? this.first : this.others
    const { promise: turn, resolve } = Promise.withResolvers<void>()
    line.add(share, resolve)
    this.fill()
    await (untilMs === undefined ? turn : before(untilMs, turn, () => line.remove(share, resolve)))
    const done = work().finally(() => {
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

class Line {
  private readonly shareMax: number
  /** Those whose turn has not come, by share; the share that comes next is the first. */
  private readonly waiting = new Map<string, (() => void)[]>()
  private readonly atWork = new Map<string, number>()

  constructor(shareMax: number) {
    this.shareMax = shareMax
  }

  add(share: string, one: () => void): void {
    const queue = this.waiting.get(share)
    if (queue) queue.push(one)
    else this.waiting.set(share, [one])
  }

  remove(share: string, one: () => void): void {
    const queue = this.waiting.get(share)?.filter((other) => other !== one) ?? []
    if (queue.length > 0) this.waiting.set(share, queue)
    else this.waiting.delete(share)
  }

  /** The one that comes next, which has its place from now on until it has `left`. */
  next(): (() => void) | undefined {
    for (const [share, queue] of this.waiting) {
      const busy = this.atWork.get(share) ?? 0
      if (busy >= this.shareMax) continue
      this.atWork.set(share, busy + 1)
      const [one] = queue.splice(0, 1)
      // Behind all others, with what it still wants.
      this.waiting.delete(share)
      if (queue.length > 0) this.waiting.set(share, queue)
      return one
    }
    return undefined
  }

  left(share: string): void {
    const busy = (this.atWork.get(share) ?? 1) - 1
    if (busy > 0) this.atWork.set(share, busy)
    else this.atWork.delete(share)
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
