/** Combines additions to one row. Steps of a commit that add to the same row run as one step. */
import { STEP_HEAD, stepEnd, type WireTx, type WireValue } from './wire.ts'

/** A step of our own. The transactions stay unchanged, because they may have to run one by one. */
type Sum = WireValue[]

/** A statement that adds. `keys` is the number of values that name the row, and `last` the sum of its last step. */
type Table = { readonly keys: number; last: Sum | undefined }

export class AddedSums {
  /** The tables by slot. */
  private readonly tables = new Map<number, Table>()
  private readonly rows = new Map<string, Sum>()

  define(slot: number, keys: number): void {
    this.tables.set(slot, { keys, last: undefined })
  }

  /** Keeps the step at `at` for later if it adds. Returns false if it must run at once, as for an inexact sum. */
  take(tx: WireTx, at: number): boolean {
    const table = this.tables.get(tx[at] as number)
    if (!table) return false
    const { keys, last } = table
    // The row is usually that of the step before, and is then found without building a text.
    if (last && isSameRow(last, tx, { at, keys })) return add(last, tx, { at, keys })
    const step = tx.slice(at, stepEnd(tx, at))
    const name = JSON.stringify(step.slice(0, STEP_HEAD + keys))
    const known = this.rows.get(name)
    if (known && !add(known, tx, { at, keys })) return false
    table.last = known ?? step
    if (!known) this.rows.set(name, step)
    return true
  }

  /** The steps kept since `clear`, one for each row, each as a transaction of one step. */
  steps(): Iterable<WireTx> {
    return this.rows.values()
  }

  clear(): void {
    this.rows.clear()
    for (const table of this.tables.values()) table.last = undefined
  }
}

type Place = { readonly at: number; readonly keys: number }

/** Whether both add to the same row in the same way: everything before the added values is equal. */
function isSameRow(sum: Sum, tx: WireTx, { at, keys }: Place): boolean {
  for (let i = 0; i < STEP_HEAD + keys; i++) if (sum[i] !== tx[at + i]) return false
  return true
}

/** Adds all values, or none if one would not be exact, such as a null or a fraction that SQLite would refuse. */
function add(sum: Sum, tx: WireTx, { at, keys }: Place): boolean {
  const from = STEP_HEAD + keys
  for (let i = from; i < sum.length; i++) if (!isExact(sum[i], tx[at + i])) return false
  for (let i = from; i < sum.length; i++) sum[i] = (sum[i] as number) + (tx[at + i] as number)
  return true
}

const isExact = (a: unknown, b: unknown): boolean =>
  Number.isSafeInteger(a) && Number.isSafeInteger(b) && Number.isSafeInteger((a as number) + (b as number))
