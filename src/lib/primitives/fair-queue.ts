/**
 * What waits, by whose it is: shares take turns, and what is of one share comes in the order in which it came. Who
 * wants much keeps nobody else waiting.
 */
export class FairQueue<Item> {
  /** The share that comes next is the first. None is empty. */
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

  /** Takes an item out whose turn has not come, if it is there. */
  remove(share: string, item: Item): void {
    const queue = this.shares.get(share)
    const at = queue?.indexOf(item) ?? -1
    if (!queue || at === -1) return
    this.count--
    queue.splice(at, 1)
    if (queue.length === 0) this.shares.delete(share)
  }

  /** The item that comes next, of a share that may have one now. Its share is behind all others then. */
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
