/** Work of which only so much is done at once, and a share of it for each name; the rest waits in turn. */
export class Slots {
  private readonly max: number
  private readonly shareMax: number
  private readonly waiting: { readonly name: string; readonly start: () => void }[] = []
  private readonly shares = new Map<string, number>()
  private busy = 0

  constructor(max: number, shareMax = max) {
    this.max = max
    this.shareMax = shareMax
  }

  async run<T>(work: () => Promise<T>, name = ''): Promise<T> {
    if (this.hasRoom(name)) this.count(name, 1)
    else await new Promise<void>((start) => void this.waiting.push({ name, start }))
    try {
      return await work()
    } finally {
      this.leave(name)
    }
  }

  /** Whoever leaves hands its slot on, so that nobody slips in between. */
  private leave(name: string): void {
    this.count(name, -1)
    const at = this.waiting.findIndex((one) => this.hasRoom(one.name))
    const [next] = at === -1 ? [] : this.waiting.splice(at, 1)
    if (!next) return
    this.count(next.name, 1)
    next.start()
  }

  private hasRoom(name: string): boolean {
    return this.busy < this.max && (this.shares.get(name) ?? 0) < this.shareMax
  }

  private count(name: string, change: 1 | -1): void {
    this.busy += change
    const share = (this.shares.get(name) ?? 0) + change
    if (share === 0) this.shares.delete(name)
    else this.shares.set(name, share)
  }
}
