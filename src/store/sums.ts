/** What the transactions of a commit add to the same rows, gathered so that steps that name the same are one. */
import { STEP_HEAD, stepEnd, type WireTx, type WireValue } from './wire.ts'

/** A step of our own: what is added to it stays out of the transactions, which may have to be run one by one. */
type Sum = WireValue[]

/** A statement that adds: how many of its values name the row, and the sum of its last step. */
type Table = { readonly keys: number; last: Sum | undefined }

export class AddedSums {
  /** By slot. */
  private readonly tables = new Map<number, Table>()
  private readonly rows = new Map<string, Sum>()

  define(slot: number, keys: number): void {
    this.tables.set(slot, { keys, last: undefined })
  }

  /** Whether the step at `at` adds, and was kept for later. One whose sum would not be exact is to be run at once. */
  take(tx: WireTx, at: number): boolean {
    const table = this.tables.get(tx[at] as number)
    if (!table) return false
    const { keys, last } = table
    // Mostly the row of the step before: no text is made to find it.
    if (last && isSameRow(last, tx, { at, keys })) return add(last, tx, { at, keys })
    const step = tx.slice(at, stepEnd(tx, at))
    const name = JSON.stringify(step.slice(0, STEP_HEAD + keys))
    const known = this.rows.get(name)
    if (known && !add(known, tx, { at, keys })) return false
    table.last = known ?? step
    if (!known) this.rows.set(name, step)
    return true
  }

  /** What was taken since `clear`, row by row: each as a transaction of one step. */
  steps(): Iterable<WireTx> {
    return this.rows.values()
  }

  clear(): void {
    this.rows.clear()
    for (const table of this.tables.values()) table.last = undefined
  }
}

type Place = { readonly at: number; readonly keys: number }

/** Everything in front of what is added says to which row, and how. */
function isSameRow(sum: Sum, tx: WireTx, { at, keys }: Place): boolean {
  for (let i = 0; i < STEP_HEAD + keys; i++) if (sum[i] !== tx[at + i]) return false
  return true
}

/** Adds all values, or none where one would not be exact: what SQLite would refuse, a null or a fraction, say. */
function add(sum: Sum, tx: WireTx, { at, keys }: Place): boolean {
  const from = STEP_HEAD + keys
  for (let i = from; i < sum.length; i++) if (!isExact(sum[i], tx[at + i])) return false
  for (let i = from; i < sum.length; i++) sum[i] = (sum[i] as number) + (tx[at + i] as number)
  return true
}

const isExact = (a: unknown, b: unknown): boolean =>
  Number.isSafeInteger(a) && Number.isSafeInteger(b) && Number.isSafeInteger((a as number) + (b as number))
