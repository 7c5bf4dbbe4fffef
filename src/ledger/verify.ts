import type { Row } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'

/** A broken invariant: which, and what was found. */
export type Finding = { readonly invariant: string; readonly subject: string; readonly detail: string }

type Check = { readonly invariant: string; readonly sql: string }

/**
 * The ledger's invariants as queries that return the offenders. All run in one read transaction's worth of SQL each;
 * while serving, a settlement may commit between two of them, but never inside one.
 */
const checks: readonly Check[] = [
  {
    invariant: 'I1 the entries of a journal sum to zero',
    sql: `SELECT journal_id AS subject, 'sum ' || sum(amount) AS detail
          FROM entry GROUP BY journal_id HAVING sum(amount) <> 0`,
  },
  {
    invariant: 'I2 posted is the sum of the account’s entries',
    sql: `SELECT a.id AS subject, 'posted ' || a.posted || ', entries ' || coalesce(sum(e.amount), 0) AS detail
          FROM account a LEFT JOIN entry e ON e.account_id = a.id
          GROUP BY a.id HAVING a.posted <> coalesce(sum(e.amount), 0)`,
  },
  {
    invariant: 'I3 held is the sum of the account’s open holds',
    sql: `SELECT a.id AS subject, 'held ' || a.held || ', open holds ' || coalesce(sum(h.amount), 0) AS detail
          FROM account a LEFT JOIN hold h ON h.account_id = a.id AND h.state = 'open'
          GROUP BY a.id HAVING a.held <> coalesce(sum(h.amount), 0)`,
  },
  {
    invariant: 'I8 every entry belongs to a journal, every journal of a charge to a hold',
    sql: `SELECT e.journal_id AS subject, 'no journal' AS detail FROM entry e
          LEFT JOIN journal j ON j.id = e.journal_id WHERE j.id IS NULL
          UNION ALL SELECT j.id, 'no hold ' || j.hold_id FROM journal j
          LEFT JOIN hold h ON h.id = j.hold_id WHERE j.kind = 'charge' AND h.id IS NULL`,
  },
  {
    invariant: 'I4 no balance is below zero',
    sql: `SELECT id AS subject, 'posted ' || posted || ', held ' || held AS detail
          FROM account WHERE posted - held < 0 OR held < 0`,
  },
  {
    invariant: 'I5 a settled hold has one charge, any other none',
    sql: `SELECT h.id AS subject, h.state || ', charges ' || count(j.id) AS detail
          FROM hold h LEFT JOIN journal j ON j.hold_id = h.id AND j.kind = 'charge'
          GROUP BY h.id HAVING count(j.id) <> (h.state = 'settled')`,
  },
  {
    invariant: 'I6 a charge takes from the account what its hold says was settled',
    sql: `SELECT h.id AS subject, 'settled ' || h.settled || ', entry ' || coalesce(e.amount, 0) AS detail
          FROM hold h JOIN journal j ON j.hold_id = h.id
          LEFT JOIN entry e ON e.journal_id = j.id AND e.account_id = h.account_id
          WHERE h.state = 'settled' AND h.settled <> -coalesce(e.amount, 0)`,
  },
  {
    invariant: 'I7 every resolved request has a record that agrees with its hold',
    sql: `SELECT h.id AS subject, 'settled ' || coalesce(h.settled, 0) || ', record ' || coalesce(r.charged, 'none') AS detail
          FROM hold h LEFT JOIN request_record r ON r.account_id = h.account_id AND r.id = h.id
          WHERE h.state IN ('settled', 'released') AND (r.charged IS NULL OR r.charged <> coalesce(h.settled, 0))`,
  },
  {
    invariant: 'every journal of the operator’s is found among the bookings of its account',
    sql: `SELECT j.id AS subject, count(b.journal_id) || ' bookings' AS detail FROM journal j
          LEFT JOIN booking b ON b.journal_id = j.id AND b.created_at = j.created_at
            AND EXISTS (SELECT 1 FROM entry e WHERE e.journal_id = j.id AND e.account_id = b.account_id)
          WHERE j.ref IS NOT NULL GROUP BY j.id HAVING count(b.journal_id) <> 1`,
  },
  {
    invariant: 'a redeemed code has its credit, any other has none',
    sql: `SELECT c.id AS subject, iif(j.id IS NULL, 'no credit', 'a credit of ' || e.amount) AS detail
          FROM redemption_code c LEFT JOIN journal j ON j.ref = 'code:' || c.id
          LEFT JOIN entry e ON e.journal_id = j.id AND e.account_id = c.redeemed_by
          WHERE (c.redeemed_at IS NULL) <> (j.id IS NULL) OR (j.id IS NOT NULL AND e.amount IS NOT c.amount)`,
  },
  {
    invariant: 'I9 customers own what was funded, less what was earned and not written off',
    sql: `SELECT 'all accounts' AS subject, 'posted ' || posted || ', system ' || system AS detail
          FROM (SELECT (SELECT coalesce(sum(posted), 0) FROM account) AS posted,
                       (SELECT coalesce(sum(amount), 0) FROM entry WHERE account_id LIKE 'system:%') AS system)
          WHERE posted + system <> 0`,
  },
]

const findingOf =
  (invariant: string) =>
  (row: Row): Finding => ({ invariant, subject: String(row['subject']), detail: String(row['detail']) })

/** Checks the whole ledger, off the calling thread. An empty list means every number explains itself. */
export async function verifyLedger(store: Queryable): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { invariant, sql } of checks) findings.push(...(await store.query(sql)).map(findingOf(invariant)))
  return findings
}

/** How much a ledger holds, to say of a copy what is in it. */
export async function countLedger(
  store: Queryable,
): Promise<{ accounts: number; journals: number; openHolds: number }> {
  const [row] = await store.query(
    `SELECT (SELECT count(*) FROM account) AS accounts, (SELECT count(*) FROM journal) AS journals,
            (SELECT count(*) FROM hold WHERE state = 'open') AS open_holds`,
  )
  return {
    accounts: Number(row?.['accounts']),
    journals: Number(row?.['journals']),
    openHolds: Number(row?.['open_holds']),
  }
}
