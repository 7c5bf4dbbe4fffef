/** What the transactions of a commit add to the same rows, gathered so that steps that name the same are one. */
import { HEAD, type WireStep } from './wire.ts'

export class Sums {
  /** By slot: how many values name the row. */
  private readonly keys = new Map<number, number>()
  private readonly rows = new Map<string, WireStep>()

  define(slot: number, keys: number): void {
    this.keys.set(slot, keys)
  }

  /** Whether it is a step that adds, and was kept for later. One whose sum would not be exact is to be run at once. */
  take(step: WireStep): boolean {
    const keys = this.keys.get(step[0])
    if (keys === undefined) return false
    const name = JSON.stringify(step.slice(0, HEAD + keys))
    const before = this.rows.get(name)
    const sum = before ? added(before, step, HEAD + keys) : step
    if (sum) this.rows.set(name, sum)
    return sum !== undefined
  }

  /** What was taken since `clear`, row by row. */
  steps(): Iterable<WireStep> {
    return this.rows.values()
  }

  clear(): void {
    this.rows.clear()
  }
}

function added(a: WireStep, b: WireStep, from: number): WireStep | undefined {
  const sum = [...a] as [number, number, ...WireStep[number][]]
  for (let i = from; i < sum.length; i++) {
    const value = (a[i] as number) + (b[i] as number)
    // What SQLite would refuse, a null or a fraction, must not become what it takes.
    if (![a[i], b[i], value].every(Number.isSafeInteger)) return undefined
    sum[i] = value
  }
  return sum
}
