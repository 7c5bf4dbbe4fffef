/**
 * The queries of a batch whose transactions all commit together. Additions to a row become one query, and so do the
 * rows of a table. Both follow everything else: rows that other instances write too are locked last, always in one
 * order, and for the shortest time.
 */
import type { SqlValue, Statement, WriteStep } from '../statement.ts'
import type { PendingWrite } from '../write-queue.ts'
import { rowsFrom, type ColumnTypes } from './arrays.ts'
import { CombinedQueries, type BatchChange, type FenceValues } from './combined-query.ts'
import { must } from './must.ts'
import type { BatchQuery, ReturnedRow } from './outcomes.ts'
import { Columns, setFormOf } from './set-form.ts'
import { textOfStatement } from './text.ts'
import { toBound } from './values.ts'

export type CompiledBatch = {
  readonly queries: readonly BatchQuery[]
  /** Whether there is one query, with the fence in it. It is a transaction by itself. */
  readonly isWhole: boolean
}

const musts = new Map<number, Map<number, string>>()

/** The query of one step. */
export function queryOf({ run, bind, changes }: WriteStep): BatchQuery {
  const text = textOfStatement(run)
  return { text: changes === undefined ? text : mustOf(run, changes), bind: bind.map(toBound) }
}

function mustOf(run: Statement, changes: number): string {
  let known = musts.get(run.slot)
  if (!known) musts.set(run.slot, (known = new Map()))
  let made = known.get(changes)
  if (made === undefined) known.set(changes, (made = must(textOfStatement(run), changes, run)))
  return made
}

/**
 * Locks the rows that other instances add to: tables by their names, and rows by their ids, as the sums of a batch do.
 * A batch that adds to such rows in another order begins with this. Otherwise two instances could wait for each other.
 */
export function lockQueries(batch: readonly PendingWrite[]): readonly BatchQuery[] {
  const tables = new Map<string, Columns>()
  for (const { run, bind } of batch.flatMap(({ steps }) => steps)) {
    if (run.shared === undefined) continue
    let ids = tables.get(run.shared)
    if (!ids) tables.set(run.shared, (ids = new Columns()))
    ids.add(bind.slice(0, 1))
  }
  const sorted = [...tables].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([table, ids]) => ({
    text: `SELECT 1 FROM ${table} WHERE id = ANY ($1::text::text[]) ORDER BY id FOR NO KEY UPDATE`,
    bind: ids.arrays(),
  }))
}

export class BatchCompiler {
  private readonly types: ColumnTypes
  private readonly combined = new CombinedQueries()
  private readonly setTexts = new Map<Statement, SetText>()
  private queries: BatchQuery[] = []
  /** The batch, until its shared rows are locked. */
  private unlocked: readonly PendingWrite[] = []
  private racing: { readonly row: string; readonly query: BatchQuery }[] = []
  private readonly sums = new Map<string, Sum>()
  /** The sum that was made last, for each statement. */
  private readonly lastSums = new Map<Statement, Sum>()
  /** What runs as one query for each statement: changes of rows, and rows to insert. */
  private readonly sets = new Map<Statement, Columns>()
  /** The statements that insert rows, by the first value of each row, and those of them whose rows are changed too. */
  private readonly inserted = new Map<SqlValue, Statement>()
  private readonly changed = new Set<Statement>()

  constructor(types: ColumnTypes) {
    this.types = types
  }

  compile(batch: readonly PendingWrite[], fence: FenceValues): CompiledBatch {
    this.queries = []
    this.unlocked = batch
    for (const [tx, { steps }] of batch.entries()) for (const step of steps) this.take(step, tx)
    this.inserted.clear()
    // One query cannot insert a row and change it.
    for (const run of this.changed) this.writeSet(run)
    this.changed.clear()
    const first = [...this.takeRacing(), ...this.queries]
    const isWhole = first.length === 0
    const combined = this.combine(isWhole ? fence : undefined)
    if (!combined) {
      this.queries = first
      this.writeSets()
      this.writeSums()
      return { queries: this.queries, isWhole: false }
    }
    this.sets.clear()
    this.sums.clear()
    this.lastSums.clear()
    return { queries: [...first, combined], isWhole }
  }

  /** One query for the sets and the sums, if they can be one. */
  private combine(fence: FenceValues | undefined): BatchQuery | undefined {
    const changes: BatchChange[] = []
    for (const [run, columns] of this.sets) {
      const { text } = this.setText(run)
      changes.push({ name: `${run.slot}`, text, bind: columns.arrays(), changes: columns.rows, isShared: false })
    }
    const returns: ReturnedRow[] = []
    const rows = new Set<string>()
    let part = 0
    for (const { run, bind, changes: count, tells } of this.sortedSums()) {
      if (count === undefined) return undefined
      const isShared = run.shared !== undefined
      if (run.returns) returns.push({ tells, columns: run.returns, part })
      if (isShared) {
        part++
        // A limit counter is taken from and given back to by two statements. One query cannot change its row twice.
        const row = `${run.shared} ${String(bind[0])}`
        if (rows.has(row)) return undefined
        rows.add(row)
      }
      const text = textOfStatement(run)
      changes.push({ name: `${run.slot}`, text, bind, changes: count, returns: run.returns, isShared })
    }
    const query = changes.length === 0 && !fence ? undefined : this.combined.combine(changes, fence)
    return query && { ...query, returns }
  }

  private take(step: WriteStep, tx: number): void {
    const { run, bind } = step
    if (run.rowNames !== undefined) this.racing.push({ row: rowOf(step, run.rowNames), query: queryOf(step) })
    else if (run.row || run.types) this.keep(run, bind)
    else if (!this.keepSum(step, tx)) {
      if (run.readsSums) this.writeSumsEarly()
      this.queries.push({ ...queryOf(step), ...(run.returns && { returns: [{ tells: [tx], columns: run.returns }] }) })
    }
  }

  /** The statements on rows that instances race for, by their rows. Those on one row keep their order. */
  private takeRacing(): readonly BatchQuery[] {
    const sorted = this.racing.toSorted((a, b) => (a.row < b.row ? -1 : Number(a.row > b.row)))
    this.racing = []
    return sorted.map(({ query }) => query)
  }

  private keep(run: Statement, bind: readonly SqlValue[]): void {
    let kept = this.sets.get(run)
    if (!kept) this.sets.set(run, (kept = new Columns()))
    kept.add(bind)
    const [name = null] = bind
    if (run.row) this.inserted.set(name, run)
    else {
      const insert = this.inserted.get(name)
      if (insert) this.changed.add(insert)
    }
  }

  /** Each row of a set must be changed or inserted. The number of rows is a value, so that a text is prepared once. */
  private writeSets(): void {
    for (const run of this.sets.keys()) this.writeSet(run)
  }

  private writeSet(run: Statement): void {
    const columns = this.sets.get(run)
    if (!columns) return
    this.queries.push({ text: this.setText(run).must, bind: [...columns.arrays(), BigInt(columns.rows)] })
    this.sets.delete(run)
  }

  private setText(run: Statement): SetText {
    let known = this.setTexts.get(run)
    if (!known) {
      const values = run.types ?? run.row?.columns ?? []
      const text = run.types ? setFormOf(run) : insertOf(run, this.types)
      this.setTexts.set(run, (known = { text, must: must(text, `$${values.length + 1}`) }))
    }
    return known
  }

  /** Keeps an addition for later. Returns false if it must run at once, as for a value that cannot be summed. */
  private keepSum(step: WriteStep, tx: number): boolean {
    const { run, bind, changes } = step
    const { keys } = run
    if (keys === undefined) return false
    for (let i = keys; i < bind.length; i++) if (!isInteger(bind[i] as SqlValue)) return false
    // The row is usually that of the step before, and is then found without building a text.
    const last = this.lastSums.get(run)
    if (last && isOfOneRow(last, step, keys)) return add(last, step, { tx, keys })
    const name = JSON.stringify([run.slot, ...bind.slice(0, keys).map((key) => nameOf(key)), changes])
    const known = this.sums.get(name)
    if (known) return add(known, step, { tx, keys })
    const sum = { ...step, name, keyed: bind, bind: bind.map(toBound), tells: [tx] }
    this.sums.set(name, sum)
    this.lastSums.set(run, sum)
    return true
  }

  /** Writes the sums so far. Rows of later ones may come before theirs in the order of locks. */
  private writeSumsEarly(): void {
    this.queries.push(...lockQueries(this.unlocked))
    this.unlocked = []
    this.writeSums()
  }

  private writeSums(): void {
    for (const sum of this.sortedSums()) {
      const { tells, run } = sum
      this.queries.push({ ...queryOf(sum), ...(run.returns && { returns: [{ tells, columns: run.returns }] }) })
    }
    this.sums.clear()
    this.lastSums.clear()
  }

  /** All instances lock rows in one order. Otherwise two of them could wait for each other. */
  private sortedSums(): readonly Sum[] {
    const sums = [...this.sums.values()]
    return sums.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  }
}

/** The query of a set without a condition on the number of its rows, and with it. */
type SetText = { readonly text: string; readonly must: string }

const orderOf = ({ run, name }: Sum): string => textOfStatement(run) + name

/** A copy of a step. The transactions stay unchanged, because they may have to run one by one. */
type Sum = WriteStep & {
  readonly name: string
  readonly bind: SqlValue[]
  /** The values of the first step. Those that name the row are compared with them. */
  readonly keyed: readonly SqlValue[]
  readonly tells: number[]
}

function isOfOneRow(sum: Sum, { bind, changes }: WriteStep, keys: number): boolean {
  if (sum.changes !== changes) return false
  for (let i = 0; i < keys; i++) if (sum.keyed[i] !== bind[i]) return false
  return true
}

function add(sum: Sum, { bind }: WriteStep, { tx, keys }: { readonly tx: number; readonly keys: number }): true {
  sum.tells.push(tx)
  for (let i = keys; i < bind.length; i++) sum.bind[i] = (sum.bind[i] as bigint) + BigInt(bind[i] as bigint)
  return true
}

const rowOf = ({ bind }: WriteStep, rowNames: number): string => JSON.stringify(bind.slice(0, rowNames).map(nameOf))
const isInteger = (value: SqlValue): boolean => typeof value === 'bigint' || Number.isInteger(value)
const nameOf = (value: SqlValue): unknown => (typeof value === 'string' || value === null ? value : [String(value)])

function insertOf({ sql, tuple = '', row }: Statement, types: ColumnTypes): string {
  const { table = '', columns = [] } = row ?? {}
  const typeOf = (column: string): string => {
    const type = types.get(`${table.replaceAll('"', '')}.${column}`)
    if (type === undefined) throw new Error(`the schema has no column ${table}.${column}`)
    return type
  }
  let last = 0
  const values = tuple.slice(1, -1).replace(/\?/g, () => `v${++last}`)
  return `${sql.slice(0, -`VALUES ${tuple}`.length)}SELECT ${values} FROM ${rowsFrom(columns.map(typeOf))}`
}
