/** A heap of whole numbers below 2 ** 31. The lowest is taken first. Its capacity is fixed, and it makes no garbage. */
export class NumberHeap {
  private readonly numbers: Int32Array
  private size = 0

  constructor(room: number) {
    this.numbers = new Int32Array(room)
  }

  clear(): void {
    this.size = 0
  }

  push(number: number): void {
    const { numbers } = this
    let at = this.size++
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = numbers[above] as number
      if (parent <= number) break
      numbers[at] = parent
      at = above
    }
    numbers[at] = number
  }

  /** Takes the lowest number. Undefined if there is none. */
  pop(): number | undefined {
    const { numbers } = this
    if (this.size === 0) return undefined
    const lowest = numbers[0]
    const last = numbers[--this.size] as number
    let at = 0
    for (let child = 1; child < this.size; child = 2 * at + 1) {
      if (child + 1 < this.size && (numbers[child + 1] as number) < (numbers[child] as number)) child++
      const lower = numbers[child] as number
      if (lower >= last) break
      numbers[at] = lower
      at = child
    }
    numbers[at] = last
    return lowest
  }
}
