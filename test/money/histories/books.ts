/** Reads the database in the form of Model.lines(), and compares the two. */
import type { Row } from '../../../src/store/statement.ts'
import { verifyLedger } from '../../../src/ledger/verify.ts'
import type { Store } from '../../../src/store/store.ts'

/** The ledger broke a promise. Everything else that goes wrong in a history is a fault of the test. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

const text = (row: Row, name: string): string => String(row[name])

/** A journal without an entry is a line, too; a charge of nothing has none, and is its hold's line. */
const BOOKINGS = `SELECT j.kind, j.ref AS subject, e.account_id, e.amount FROM journal j
  LEFT JOIN entry e ON e.journal_id = j.id WHERE j.id > ?`
const CHARGES = "SELECT * FROM books WHERE kind = 'charge' AND subject BETWEEN ? AND ?"

/** Every row of the accounts and holds whose id begins with `prefix`, and of the journals after `journalId`. */
async function linesOf(store: Store, prefix: string, journalId: bigint): Promise<string[]> {
  const range = [prefix, `${prefix}~`]
  const [accounts, holds, records, bookings, charges] = await Promise.all([
    store.query('SELECT id, posted, held FROM account WHERE id BETWEEN ? AND ?', range),
    store.query(
      'SELECT id, account_id, amount, state, settled, price_card_id FROM hold WHERE id BETWEEN ? AND ?',
      range,
    ),
    store.query('SELECT account_id, id, charged FROM request_record WHERE account_id BETWEEN ? AND ?', range),
    store.query(BOOKINGS, [journalId]),
    store.query(CHARGES, range),
  ])
  return [
    ...accounts.map((row) => `account ${text(row, 'id')} posted ${text(row, 'posted')} held ${text(row, 'held')}`),
    ...holds.map((row) => {
      const [id, account, amount] = ['id', 'account_id', 'amount'].map((name) => text(row, name))
      const end = ['state', 'settled', 'price_card_id'].map((name) => text(row, name)).join(' ')
      return `hold ${id} of ${account} ${amount} ${end}`
    }),
    ...records.map((row) => `record ${text(row, 'id')} of ${text(row, 'account_id')} charged ${text(row, 'charged')}`),
    ...[
      ...Map.groupBy([...bookings, ...charges], (row) => `${text(row, 'kind')} ${text(row, 'subject')}`).values(),
    ].map(journalLine),
  ]
}

function journalLine(rows: readonly Row[]): string {
  const sums = rows
    .filter((row) => row['amount'] !== null)
    .map((row) => `${text(row, 'account_id')}=${text(row, 'amount')}`)
  const [first = {}] = rows
  return `journal ${text(first, 'kind')} ${text(first, 'subject')}: ${sums.toSorted().join(' ')}`
}

export async function lastJournalId(store: Store): Promise<bigint> {
  const [row] = await store.query('SELECT coalesce(max(id), 0) AS id FROM journal')
  return row?.['id'] as bigint
}

export type Scope = { readonly prefix: string; readonly afterJournalId: bigint }

/** Compares the database with what the models say, line by line: nothing may be missing, doubled or extra. */
export async function expectBooks(store: Store, expected: readonly string[], scope: Scope): Promise<void> {
  const found = (await linesOf(store, scope.prefix, scope.afterJournalId)).toSorted()
  const wanted = expected.toSorted()
  for (let i = 0; i < Math.max(found.length, wanted.length); i++) {
    if (found[i] === wanted[i]) continue
    throw new Violation(`the books say '${found[i] ?? 'nothing'}' where the model says '${wanted[i] ?? 'nothing'}'`)
  }
}

/** The invariants of src/ledger/verify.ts. */
export async function expectVerified(store: Store): Promise<void> {
  const [finding, ...more] = await verifyLedger(store)
  if (!finding) return
  throw new Violation(`${finding.invariant}: ${finding.subject} ${finding.detail} (and ${more.length} more)`)
}
