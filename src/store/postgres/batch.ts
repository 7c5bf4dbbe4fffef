/**
 * The queries of a batch whose transactions all commit together. Additions to a row become one query, and so do the
 * rows of a table. Both follow everything else: rows that other instances write too are locked last, always in one
 * order, and for the shortest time.
 */
import type { Row, SqlValue, Statement, WriteStep } from '../statement.ts'
import type { PendingWrite } from '../write-queue.ts'
import { rowsFrom, type ColumnTypes } from './arrays.ts'
import { Columns, setFormOf } from './set-form.ts'
import { textOfStatement } from './text.ts'
import { toBound } from './values.ts'

/** A query with its values. `tells` are the transactions of the batch that get the row that `step` returns. */
export type BatchQuery = {
  readonly text: string
  readonly bind: readonly SqlValue[]
  readonly tells?: readonly number[]
  readonly step?: WriteStep
}

/**
 * A query that fails with a division by zero unless it changes exactly `changes` rows, a number or a value such as
 * `$2`. `also` is evaluated with it.
 */
export function must(
  query: string,
  changes: number | `$${number}`,
  { returns = [], also }: { readonly returns?: readonly string[] | undefined; readonly also?: string } = {},
): string {
  const columns = returns.map((name) => `max(${name}) AS ${name}, `).join('')
  return `WITH changed AS (${query} RETURNING ${returns.join(', ') || 1})
    SELECT ${columns}1 / (count(*) = ${changes}::bigint)::int AS met${also ? `, ${also}` : ''} FROM changed`
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

/** The row that a statement with `returns` has returned. */
export function returnedRow({ run }: WriteStep, rows: readonly unknown[]): Row | undefined {
  if (!run.returns) return undefined
  const [row] = rows as readonly Row[]
  return row && Object.fromEntries(run.returns.map((name) => [name, row[name] ?? null]))
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
  private readonly setTexts = new Map<Statement, string>()
  private queries: BatchQuery[] = []
  /** The batch, until its shared rows are locked. */
  private unlocked: readonly PendingWrite[] = []
  private racing: { readonly row: string; readonly query: BatchQuery }[] = []
  private readonly sums = new Map<string, Sum>()
  /** What runs as one query for each statement: changes of rows, and rows to insert. */
  private readonly sets = new Map<Statement, Columns>()

  constructor(types: ColumnTypes) {
    this.types = types
  }

  compile(batch: readonly PendingWrite[]): readonly BatchQuery[] {
    this.queries = []
    this.unlocked = batch
    for (const [tx, { steps }] of batch.entries()) for (const step of steps) this.take(step, tx)
    this.writeSets()
    this.writeSums()
    return [...this.takeRacing(), ...this.queries]
  }

  private take(step: WriteStep, tx: number): void {
    const { run, bind } = step
    if (run.rowNames !== undefined) this.racing.push({ row: rowOf(step, run.rowNames), query: queryOf(step) })
    else if (run.row || run.types) this.keep(run, bind)
    else if (!this.keepSum(step, tx)) {
      if (run.readsSums) this.writeSumsEarly()
      this.queries.push({ ...queryOf(step), ...(run.returns && { tells: [tx], step }) })
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
  }

  /** Each row of a set must be changed or inserted. The number of rows is a value, so that a text is prepared once. */
  private writeSets(): void {
    for (const [run, columns] of this.sets) {
      this.queries.push({ text: this.setText(run), bind: [...columns.arrays(), BigInt(columns.rows)] })
    }
    this.sets.clear()
  }

  private setText(run: Statement): string {
    let text = this.setTexts.get(run)
    if (text === undefined) {
      const types = run.types ?? run.row?.columns ?? []
      text = must(run.types ? setFormOf(run) : insertOf(run, this.types), `$${types.length + 1}`)
      this.setTexts.set(run, text)
    }
    return text
  }

  /** Keeps an addition for later. Returns false if it must run at once, as for a value that cannot be summed. */
  private keepSum(step: WriteStep, tx: number): boolean {
    const { run, bind, changes } = step
    const { keys } = run
    if (keys === undefined || !bind.every((value, i) => i < keys || isInteger(value))) return false
    const name = JSON.stringify([run.slot, ...bind.slice(0, keys).map((key) => nameOf(key)), changes])
    const known = this.sums.get(name)
    known?.tells.push(tx)
    if (!known) this.sums.set(name, { ...step, name, bind: bind.map(toBound), tells: [tx] })
    else for (let i = keys; i < bind.length; i++) known.bind[i] = (known.bind[i] as bigint) + BigInt(bind[i] as bigint)
    return true
  }

  /** Writes the sums so far. Rows of later ones may come before theirs in the order of locks. */
  private writeSumsEarly(): void {
    this.queries.push(...lockQueries(this.unlocked))
    this.unlocked = []
    this.writeSums()
  }

  /** All instances lock rows in one order. Otherwise two of them could wait for each other. */
  private writeSums(): void {
    const sums = [...this.sums.values()].map((sum) => ({ ...sum, order: textOfStatement(sum.run) + sum.name }))
    for (const sum of sums.toSorted((a, b) => (a.order < b.order ? -1 : 1))) {
      this.queries.push({ ...queryOf(sum), ...(sum.run.returns && { tells: sum.tells, step: sum }) })
    }
    this.sums.clear()
  }
}

/** A copy of a step. The transactions stay unchanged, because they may have to run one by one. */
type Sum = WriteStep & { readonly name: string; readonly bind: SqlValue[]; readonly tells: number[] }

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
