/** Work of which only so much is done at once; the rest waits, first come first served. */
export class Slots {
  private readonly max: number
  private readonly waiting: (() => void)[] = []
  private busy = 0

  constructor(max: number) {
    this.max = max
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    // Whoever leaves hands its slot on, so that nobody slips in between.
    if (this.busy < this.max) this.busy++
    else await new Promise<void>((resolve) => void this.waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.busy--
    }
  }
}
