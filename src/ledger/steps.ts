/** The rows that the ledger writes, in SQL. */
import type { NanoUsd } from '../domain/money.ts'
import {
  addingStatement,
  readingStatement,
  rowStatement,
  statement,
  updatingStatement,
  type Sql,
  type WriteStep,
} from '../store/statement.ts'
import type { Hold } from './ledger.ts'

export const holdFunds = statement('UPDATE account SET held = held + ?1 WHERE id = ?2 AND posted - held >= ?1')
export const insertHold = statement(
  "INSERT INTO hold (id, account_id, amount, state, owner, created_at) VALUES (?, ?, ?, 'open', ?, ?)",
)
export const extendHold = statement("UPDATE hold SET amount = amount + ?2 WHERE id = ?1 AND state = 'open'")
/** The columns of holds that were never open on disk. No process owned them there. */
const RESOLVED = 'id, account_id, amount, created_at, resolved_at'
const CHARGE = 'cost, settled, written_off, price_card_id'
const insertSettled = rowStatement('hold', `${RESOLVED}, ${CHARGE}`, { state: "'settled'", owner: "''" })
const insertReleased = rowStatement('hold', RESOLVED, { state: "'released'", owner: "''" })
/**
 * Changes the open hold of an id. PostgreSQL must find it by its id. Its planner expects hardly any open holds, and
 * would read all of them for each batch, by one of their indexes. It cannot use these for a text that is computed.
 */
const ofOpenHold = (update: string): Sql => ({
  sqlite: `${update} WHERE id = ?1 AND state = 'open'`,
  postgres: `${update} WHERE id = ?1 AND state || '' = 'open'`,
})
const settleHold = updatingStatement(
  ofOpenHold(
    "UPDATE hold SET state = 'settled', cost = ?2, settled = ?3, written_off = ?4, price_card_id = ?5, resolved_at = ?6",
  ),
  ['text', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint'],
)
export const resolveHold = updatingStatement(ofOpenHold('UPDATE hold SET state = ?2, resolved_at = ?3'), [
  'text',
  'text',
  'bigint',
])
export const moveFunds = statement('UPDATE account SET posted = posted + ?1, held = held - ?2 WHERE id = ?3')
/**
 * Additions to a balance, which are combined to one sum per commit. Until the sum is written, the balance on disk may
 * be too high for a hold. The sum is then refused, and the batch runs one by one. The balance is never too low, because
 * bookings, the only additions that raise it, write the sum at once.
 */
export const addFunds = addingStatement(
  'UPDATE account SET posted = posted + ?2 WHERE id = ?1 AND posted + ?2 - held >= 0',
  1,
)
export const insertJournal = rowStatement('journal', 'id, kind, ref, reason, created_at')
/** Runs after the funds have moved, because it stores the balance of that moment. */
export const insertBooking = readingStatement(
  `INSERT INTO booking (account_id, created_at, journal_id, balance_after)
   SELECT id, ?2, ?3, posted FROM account WHERE id = ?1`,
)
const insertEntry = rowStatement('entry', 'account_id, journal_id, amount')

/**
 * A charge is its settled hold: the cost, the prices, what was charged and what was written off. Its entries follow
 * from it. A CHECK of the row ensures that they add up.
 */
export type ChargeRow = {
  readonly cost: NanoUsd
  readonly charged: NanoUsd
  readonly writtenOff: NanoUsd
  readonly priceCardId: number
}

export const settledStep = (
  hold: Hold,
  { cost, charged, writtenOff, priceCardId }: ChargeRow,
  nowMs: number,
): WriteStep => ({
  run: insertSettled,
  bind: [hold.id, hold.accountId, hold.amount, hold.createdAtMs, nowMs, cost, charged, writtenOff, priceCardId],
})

/** Settles a hold that is open on disk. */
export const settleStep = (
  { id }: Hold,
  { cost, charged, writtenOff, priceCardId }: ChargeRow,
  nowMs: number,
): WriteStep => ({
  run: settleHold,
  bind: [id, cost, charged, writtenOff, priceCardId, nowMs],
  changes: 1,
})

export const releasedStep = (hold: Hold, nowMs: number): WriteStep => ({
  run: insertReleased,
  bind: [hold.id, hold.accountId, hold.amount, hold.createdAtMs, nowMs],
})

export const entry = (journalId: number, accountId: string, amount: NanoUsd): WriteStep => ({
  run: insertEntry,
  bind: [accountId, journalId, amount],
})
