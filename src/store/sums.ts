/** What the transactions of a commit add to the same rows, gathered so that steps that name the same are one. */
import type { WireStep } from './wire.ts'

/** A step of our own: what is added to it stays out of the transactions, which may have to be run one by one. */
type Sum = readonly [slot: number, changes: number, values: WireStep[2][number][]]

/** A statement that adds: how many of its values name the row, and the sum of its last step. */
type Table = { readonly keys: number; last: Sum | undefined }

export class Sums {
  /** By slot. */
  private readonly tables = new Map<number, Table>()
  private readonly rows = new Map<string, Sum>()

  define(slot: number, keys: number): void {
    this.tables.set(slot, { keys, last: undefined })
  }

  /** Whether it is a step that adds, and was kept for later. One whose sum would not be exact is to be run at once. */
  take(step: WireStep): boolean {
    const table = this.tables.get(step[0])
    if (!table) return false
    const { keys, last } = table
    // Mostly the row of the step before: no text is made to find it.
    if (last && isSameRow(last, step, keys)) return add(last[2], step[2], keys)
    const name = JSON.stringify([step[0], step[1], step[2].slice(0, keys)])
    const known = this.rows.get(name)
    if (known && !add(known[2], step[2], keys)) return false
    table.last = known ?? [step[0], step[1], step[2].slice()]
    if (!known) this.rows.set(name, table.last)
    return true
  }

  /** What was taken since `clear`, row by row. */
  steps(): Iterable<WireStep> {
    return this.rows.values()
  }

  clear(): void {
    this.rows.clear()
    for (const table of this.tables.values()) table.last = undefined
  }
}

function isSameRow(sum: Sum, [, changes, values]: WireStep, keys: number): boolean {
  for (let i = 0; i < keys; i++) if (sum[2][i] !== values[i]) return false
  return sum[1] === changes
}

/** Adds all values, or none where one would not be exact: what SQLite would refuse, a null or a fraction, say. */
function add(sum: Sum[2], values: WireStep[2], from: number): boolean {
  for (let i = from; i < sum.length; i++) if (!isExact(sum[i], values[i])) return false
  for (let i = from; i < sum.length; i++) sum[i] = (sum[i] as number) + (values[i] as number)
  return true
}

const isExact = (a: unknown, b: unknown): boolean =>
  Number.isSafeInteger(a) && Number.isSafeInteger(b) && Number.isSafeInteger((a as number) + (b as number))
