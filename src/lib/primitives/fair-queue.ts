/**
 * A fair queue. Shares take turns, and the items of one share keep their order. A share with many items does not delay
 * the others.
 */
export class FairQueue<Item> {
  /** The first share is the next one. No queue is empty. */
  private readonly shares = new Map<string, Item[]>()
  private count = 0

  get size(): number {
    return this.count
  }

  sizeOf(share: string): number {
    return this.shares.get(share)?.length ?? 0
  }

  add(share: string, item: Item): void {
    this.count++
    const queue = this.shares.get(share)
    if (queue) queue.push(item)
    else this.shares.set(share, [item])
  }

  /** Removes a waiting item, if it is there. */
  remove(share: string, item: Item): void {
    const queue = this.shares.get(share)
    const at = queue?.indexOf(item) ?? -1
    if (!queue || at === -1) return
    this.count--
    queue.splice(at, 1)
    if (queue.length === 0) this.shares.delete(share)
  }

  /** Takes the next item of the first share that may have one now. That share then moves to the end. */
  next(mayHave?: (share: string) => boolean): [share: string, item: Item] | undefined {
    for (const [share, queue] of this.shares) {
      if (mayHave && !mayHave(share)) continue
      const [item] = queue.splice(0, 1)
      this.count--
      this.shares.delete(share)
      if (queue.length > 0) this.shares.set(share, queue)
      return [share, item as Item]
    }
    return undefined
  }
}
