/** What must hold between rows, as queries for what breaks it. */
import { fill, type MessageFacts } from './localized-message.ts'

/** Where the rows are. */
type CheckSource = {
  query(sql: string, bind?: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]>
}

export type Check = {
  /** Stands for the two sentences. */
  readonly code: string
  /** What must hold. */
  readonly invariant: string
  /** What is said of a row that breaks it; `{name}` is a column of it. */
  readonly found: string
  /** Gives those rows: whose each is, as `subject`, and what is told of it. */
  readonly sql: string
  /** What stands for its question marks. */
  readonly bind?: readonly string[]
}

/** A broken invariant: which, and what was found; `code` and `facts` say the same as data. */
export type Finding = {
  readonly code: string
  readonly invariant: string
  readonly subject: string
  readonly detail: string
  readonly facts: MessageFacts
}

/**
 * Runs checks one after the other. While serving, a settlement may commit between two of them, but never inside one. An
 * empty list means that every number explains itself.
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
