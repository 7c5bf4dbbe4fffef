import { findingsOf, type Check, type Finding } from '../lib/primitives/checks.ts'
import type { Queryable } from '../store/store.ts'

/**
 * A sum of any amounts. That of SQLite fails once a subtotal exceeds 64 bits, which is $9.2 billion. All accounts
 * together can have more. Dollars and the fractions are therefore added separately.
 */
const total = (amount: string): string =>
  `coalesce(sum(${amount} / 1000000000) * 1000000000 + sum(${amount} % 1000000000), 0)`

/** A number, or the word for none. */
const orNone = (column: string): string => `coalesce(CAST(${column} AS text), 'none')`

/** The ledger's invariants. I5 is kept by the schema: a charge is its settled hold, and a hold has one row. */
export const ledgerChecks: readonly Check[] = [
  {
    code: 'journal_sum',
    invariant: 'I1 the entries of a journal sum to zero',
    found: 'sum {sum}',
    sql: `SELECT journal_id AS subject, CAST(sum(amount) AS text) AS sum FROM entry GROUP BY journal_id HAVING sum(amount) <> 0`,
  },
  {
    code: 'posted',
    invariant: 'I2 posted is the sum of the account’s entries',
    found: 'posted {posted}, entries {entries}',
    sql: `SELECT a.id AS subject, a.posted, CAST(coalesce(b.sum, 0) AS text) AS entries
          FROM account a LEFT JOIN (SELECT account_id, ${total('amount')} AS sum FROM books GROUP BY account_id) b
          ON b.account_id = a.id WHERE a.posted <> coalesce(b.sum, 0)`,
  },
  {
    code: 'held',
    invariant: 'I3 held is the sum of the account’s open holds',
    found: 'held {held}, open holds {holds}',
    sql: `SELECT a.id AS subject, a.held, CAST(coalesce(sum(h.amount), 0) AS text) AS holds
          FROM account a LEFT JOIN hold h ON h.account_id = a.id AND h.state = 'open'
          GROUP BY a.id HAVING a.held <> coalesce(sum(h.amount), 0)`,
  },
  {
    code: 'entry_journal',
    invariant: 'every entry belongs to a journal',
    found: 'no journal',
    sql: `SELECT e.journal_id AS subject FROM entry e LEFT JOIN journal j ON j.id = e.journal_id WHERE j.id IS NULL`,
  },
  {
    code: 'below_zero',
    invariant: 'I4 no balance is below zero',
    found: 'posted {posted}, held {held}',
    sql: `SELECT id AS subject, posted, held FROM account WHERE posted - held < 0 OR held < 0`,
  },
  {
    code: 'record',
    invariant: 'I7 every resolved request has a record that agrees with its hold',
    found:
      'settled {settled} and {lacking} written off by card {card}, record {record}, {record_lacking}, {record_card}',
    sql: `SELECT h.id AS subject, coalesce(h.settled, 0) AS settled, coalesce(h.written_off, 0) AS lacking,
            ${orNone('h.price_card_id')} AS card, ${orNone('r.charged')} AS record,
            ${orNone('r.written_off')} AS record_lacking, ${orNone('r.price_card_id')} AS record_card
          FROM hold h LEFT JOIN request_record r ON r.account_id = h.account_id AND r.id = h.id
          WHERE h.state IN ('settled', 'released') AND (r.charged IS NULL OR r.charged <> coalesce(h.settled, 0)
            OR r.written_off <> coalesce(h.written_off, 0)
            OR (h.state = 'settled' AND r.price_card_id IS DISTINCT FROM h.price_card_id))`,
  },
  {
    code: 'record_hold',
    invariant: 'every record is of a request whose hold was settled or released',
    found: 'hold {state}',
    sql: `SELECT r.id AS subject, coalesce(h.state, 'none') AS state
          FROM request_record r LEFT JOIN hold h ON h.id = r.id AND h.account_id = r.account_id
          WHERE h.state IS NULL OR h.state NOT IN ('settled', 'released')`,
  },
  {
    code: 'booking',
    invariant: 'every journal of the operator’s is found among the bookings of its account',
    found: '{bookings} bookings',
    sql: `SELECT j.id AS subject, count(b.journal_id) AS bookings FROM journal j
          LEFT JOIN booking b ON b.journal_id = j.id AND b.created_at = j.created_at
            AND EXISTS (SELECT 1 FROM entry e WHERE e.journal_id = j.id AND e.account_id = b.account_id)
          WHERE j.ref IS NOT NULL GROUP BY j.id HAVING count(b.journal_id) <> 1`,
  },
  {
    code: 'code_credit',
    invariant: 'a redeemed code has its credit, any other has none',
    found: 'credit {credit}',
    sql: `SELECT c.id AS subject, CASE WHEN j.id IS NULL THEN 'none' ELSE coalesce(CAST(e.amount AS text), 'elsewhere') END AS credit
          FROM redemption_code c LEFT JOIN journal j ON j.ref = 'code:' || c.id
          LEFT JOIN entry e ON e.journal_id = j.id AND e.account_id = c.redeemed_by
          WHERE (c.redeemed_at IS NULL) <> (j.id IS NULL) OR (j.id IS NOT NULL AND e.amount IS DISTINCT FROM c.amount)`,
  },
  {
    code: 'funds',
    invariant: 'I9 customers own what was funded, less what was earned and not written off',
    found: 'posted {posted}, system {system}',
    // The difference of both is exact, however large they are.
    sql: `SELECT 'all accounts' AS subject, (SELECT CAST(${total('posted')} AS text) FROM account) AS posted,
            (SELECT CAST(${total('amount')} AS text) FROM books WHERE account_id LIKE 'system:%') AS system
          WHERE (SELECT ${total('amount')} FROM (SELECT posted AS amount FROM account
                 UNION ALL SELECT amount FROM books WHERE account_id LIKE 'system:%') AS everything) <> 0`,
  },
]

const OWNED_BY_ANOTHER = `SELECT id AS subject, owner FROM hold
  WHERE state = 'open' AND owner <> 'task' AND owner <> ?`

/**
 * The holds of a process end with it, except those of tasks. This process expired the open holds of the one before it
 * made its first. On a shared database, the holds of other living instances are open too.
 */
export const holdLifeCheck = (instance: string): Check => ({
  code: 'hold_life',
  invariant: 'I8 an open hold is of a process that runs, or of a task',
  found: 'made by {owner}',
  sql: {
    sqlite: OWNED_BY_ANOTHER,
    postgres: `${OWNED_BY_ANOTHER} AND NOT EXISTS
      (SELECT 1 FROM instance WHERE instance.id = hold.owner AND instance.state IN ('alive', 'draining'))`,
  },
  bind: [instance],
})

/** Checks the whole ledger on another thread. */
export const verifyLedger = (store: Queryable): Promise<readonly Finding[]> => findingsOf(store, ledgerChecks)

/** The number of rows in a ledger, for the description of a copy. */
export async function countLedger(
  store: Queryable,
): Promise<{ accounts: number; bookings: number; charges: number; openHolds: number }> {
  const [row] = await store.query(
    `SELECT (SELECT count(*) FROM account) AS accounts, (SELECT count(*) FROM journal) AS bookings,
            (SELECT count(*) FROM hold WHERE state = 'settled') AS charges,
            (SELECT count(*) FROM hold WHERE state = 'open') AS open_holds`,
  )
  return {
    accounts: Number(row?.['accounts']),
    bookings: Number(row?.['bookings']),
    charges: Number(row?.['charges']),
    openHolds: Number(row?.['open_holds']),
  }
}
