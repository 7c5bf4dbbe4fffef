/** Invariants between rows, as queries for rows that break them. */
import { fill, type MessageFacts } from './localized-message.ts'

/** The text of a query, for each database if they differ. */
type CheckSql = string | { readonly sqlite: string; readonly postgres: string }

/** The store of the rows. */
type CheckSource = {
  query(sql: CheckSql, bind?: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]>
}

export type Check = {
  /** Identifies the two sentences. */
  readonly code: string
  /** The sentence of the invariant. */
  readonly invariant: string
  /** The sentence about a row that breaks it. `{name}` is a column of the row. */
  readonly found: string
  /** Selects those rows: the owner as `subject`, and the columns of the sentence. */
  readonly sql: CheckSql
  /** The values of its question marks. */
  readonly bind?: readonly string[]
}

/** A broken invariant, and what was found. `code` and `facts` say the same as data. */
export type Finding = {
  readonly code: string
  readonly invariant: string
  readonly subject: string
  readonly detail: string
  readonly facts: MessageFacts
}

/**
 * Runs checks in sequence. In a running server, a settlement may commit between two checks, but never within one. An
 * empty list means that no invariant is broken.
 */
export async function findingsOf(store: CheckSource, checks: readonly Check[]): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { code, invariant, found, sql, bind } of checks) {
    for (const { subject, ...row } of await store.query(sql, bind)) {
      const facts = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))
      findings.push({ code, invariant, subject: String(subject), detail: fill(found, facts), facts })
    }
  }
  return findings
}
