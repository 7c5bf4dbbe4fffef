/** A value that a statement can bind or return. The writer and the reader both return integers as bigint. */
export type SqlValue = string | number | bigint | Uint8Array | null

/** A row as the store returns it. The folder that owns the table gives it a type. */
export type Row = Readonly<Record<string, SqlValue>>

/**
 * SQL text. Most texts serve both databases. Where the databases differ, each has its own text with the same values in
 * the same order. Values are written `?` or `?1` for both.
 */
export type Sql = string | { readonly sqlite: string; readonly postgres: string }

/** SQL text with a small number, its slot. A frequent statement is sent to the writer thread as that number. */
export type Statement = {
  readonly slot: number
  /** The text for SQLite. */
  readonly sql: string
  /** The text for PostgreSQL, where it differs. */
  readonly postgres?: string
  /** See `addingStatement`. */
  readonly keys?: number
  /** See `rowStatement`. */
  readonly tuple?: string
  /** The table of a `rowStatement`, and the columns that it binds. */
  readonly row?: { readonly table: string; readonly columns: readonly string[] }
  /** See `updatingStatement`. */
  readonly types?: readonly string[]
  /** See `racingStatement`. */
  readonly rowNames?: number
  /** See `readingStatement`. */
  readonly readsSums?: true
  /** See `addingStatement`. */
  readonly shared?: string
  /** Columns of the one row that it changes. PostgreSQL returns them with the outcome of the transaction. */
  readonly returns?: readonly string[]
}

const interned: Statement[] = []

/** All statements that the loaded modules have registered. */
export const registeredStatements = (): readonly Statement[] => interned

/** Registers SQL once, at the module level of the folder that owns the table. */
export const statement = (sql: Sql): Statement => intern(textsOf(sql))

/**
 * A statement that adds to a row. Its first `keys` values name the row and the way of adding, and the others are added.
 * Steps of a commit with equal first values may run as one step with the sums of the others. That step runs late: only
 * a `readingStatement` sees what the commit has added to the row so far.
 *
 * `shared` is the table of the row, if other instances add to it too. Its first key is then the `id` of the row.
 * PostgreSQL locks such rows in one order.
 */
export const addingStatement = (
  sql: Sql,
  keys: number,
  options: Pick<Statement, 'returns' | 'shared'> = {},
): Statement => intern({ ...textsOf(sql), keys, ...options })

/** A statement that reads a row that others add to. Additions of the same commit are written before it runs. */
export const readingStatement = (sql: Sql): Statement => intern({ ...textsOf(sql), readsSums: true })

/**
 * A statement on a row that another instance may insert at the same time. Its first `rowNames` values name the row.
 * Instances that insert such rows in different orders would wait for each other. In a batch of PostgreSQL these
 * statements therefore run first, in the order of their rows.
 */
export const racingStatement = (sql: Sql, rowNames: number): Statement => intern({ ...textsOf(sql), rowNames })

/**
 * A statement that inserts a row and depends on no other statement of its commit. The inserts of a commit may run as
 * one, after everything else, so nothing in the same transaction may read the row. `fixed` are columns with the same
 * SQL value in every row. They are neither sent nor bound.
 */
export function rowStatement(table: string, columns: string, fixed: Readonly<Record<string, string>> = {}): Statement {
  const names = [columns, ...Object.keys(fixed)].join(', ')
  const tuple = `(${[columns.replace(/\w+/g, '?'), ...Object.values(fixed)].join(', ')})`
  const row = { table, columns: columns.split(/,\s*/) }
  return intern({ sql: `INSERT INTO ${table} (${names}) VALUES ${tuple}`, tuple, row })
}

/**
 * A statement that changes one row, which its first value names. All its steps have `changes: 1`, and no other
 * statement of its commit depends on it. In a batch of PostgreSQL those of a statement run as one, after other
 * statements. `types` are the types of the values there.
 */
export const updatingStatement = (sql: Sql, types: readonly string[]): Statement => intern({ ...textsOf(sql), types })

const textsOf = (sql: Sql): Pick<Statement, 'sql' | 'postgres'> =>
  typeof sql === 'string' ? { sql } : { sql: sql.sqlite, postgres: sql.postgres }

function intern(made: Omit<Statement, 'slot'>): Statement {
  const numbered = { slot: interned.length, ...made }
  interned.push(numbered)
  return numbered
}

/**
 * One step of a transaction. With `changes`, the whole transaction is refused unless the statement changed exactly that
 * many rows. A condition is so checked and acted on in one place, with no read before the write.
 */
export type WriteStep = {
  readonly run: Statement
  readonly bind: readonly SqlValue[]
  readonly changes?: number
}

/** A unique key: its table, and its columns in the order of the schema, such as `saved_view(user_id, name)`. */
export type Constraint = `${string}(${string})`

/** A row would share a unique key with another row. */
export type ConstraintViolation = { readonly constraint: Constraint }

/**
 * The outcome of a transaction: durable, or refused with nothing written. `step` is the step whose condition failed, or
 * -1 if the schema refused a row. `violation` is the unique key that the row broke. `reason` is for people. `rows` are
 * what statements with `returns` left at the end of the commit. They are missing after a lost answer.
 */
export type WriteOutcome =
  | { readonly kind: 'written'; readonly rows?: readonly Row[] }
  | {
      readonly kind: 'refused'
      readonly step: number
      readonly reason: string
      readonly violation?: ConstraintViolation | undefined
    }
