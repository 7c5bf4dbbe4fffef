/** A value a statement can bind or return. Integers come back as bigint from the writer and the reader alike. */
export type SqlValue = string | number | bigint | Uint8Array | null

/** A row as the store returns it; the folder that owns the table gives it a type. */
export type Row = Readonly<Record<string, SqlValue>>

/** SQL text with a small number standing for it, so that a hot statement travels to the writer thread as an integer. */
export type Statement = {
  readonly slot: number
  readonly sql: string
  /** See `addingStatement`. */
  readonly keys?: number
  /** See `rowStatement`. */
  readonly tuple?: string
  /** See `readingStatement`. */
  readonly readsSums?: true
}

const interned: Statement[] = []

/** Registers SQL once, at module level of the folder that owns the table. */
export const statement = (sql: string): Statement => intern({ slot: interned.length, sql })

/**
 * A statement that adds to a row: its first `keys` values say to which and how, the others are added. Steps of a commit
 * that have the first in common may be run as one, with the sums of the others, behind all but `readingStatement`s:
 * others that ask for the row see it without what the commit has added so far.
 */
export const addingStatement = (sql: string, keys: number): Statement => intern({ slot: interned.length, sql, keys })

/** A statement that reads what others add to: what was added in the same commit before it is there when it runs. */
export const readingStatement = (sql: string): Statement => intern({ slot: interned.length, sql, readsSums: true })

/**
 * A statement that adds a row and depends on no other of its commit: those of a commit may be run as one, behind all
 * else. Nothing in the same transaction may ask for the row. `fixed`: columns that are the same in every row, in SQL:
 * they need neither travel nor be bound.
 */
export function rowStatement(table: string, columns: string, fixed: Readonly<Record<string, string>> = {}): Statement {
  const names = [columns, ...Object.keys(fixed)].join(', ')
  const tuple = `(${[columns.replace(/\w+/g, '?'), ...Object.values(fixed)].join(', ')})`
  return intern({ slot: interned.length, sql: `INSERT INTO ${table} (${names}) VALUES ${tuple}`, tuple })
}

function intern(made: Statement): Statement {
  interned.push(made)
  return made
}

/**
 * One step of a transaction. With `changes`, the transaction is refused as a whole unless the statement changed exactly
 * that many rows: this is how a condition is checked and acted on in one place, with no read before the write.
 */
export type WriteStep = {
  readonly run: Statement
  readonly bind: readonly SqlValue[]
  readonly changes?: number
}

/** A unique key: its table, and its columns in the order of the schema, such as `saved_view(user_id, name)`. */
export type Constraint = `${string}(${string})`

/** A row that was to be written shares a unique key with another row. */
export type ConstraintViolation = { readonly constraint: Constraint }

/**
 * What became of a transaction: durable, or refused with nothing written. `step` is the step whose condition failed; -1
 * where the schema refused a row. `violation` says which unique key that row broke. `reason` is for people.
 */
export type WriteOutcome =
  | { readonly kind: 'written' }
  | {
      readonly kind: 'refused'
      readonly step: number
      readonly reason: string
      readonly violation?: ConstraintViolation | undefined
    }
