/**
 * What the ledger writes on PostgreSQL. The account's row decides: it takes the sum of a commit if that fits. Otherwise
 * the transactions run one by one, and those that do not fit are refused.
 */
import { addingStatement, readingStatement, rowStatement, statement } from '../store/statement.ts'
import { BALANCE_MAX } from './ledger.ts'

/** Adds to the booked and to the held balance, and returns both as they are at the end of the commit. */
export const moveBalance = addingStatement(
  `UPDATE account SET posted = posted + ?2, held = held + ?3
   WHERE id = ?1 AND posted + ?2 - (held + ?3) >= 0 AND posted + ?2 <= ${BALANCE_MAX}`,
  1,
  { returns: ['posted', 'held'], shared: 'account' },
)
export const openHold = rowStatement('hold', 'id, account_id, amount, owner, meters, meter_day, tokens, created_at', {
  state: "'open'",
})
export const insertBookedJournal = statement('INSERT INTO journal (kind, ref, reason, created_at) VALUES (?, ?, ?, ?)')
/** Extends a hold by what its cost exceeds it, just before it is settled. The limits of the request do not count it. */
export const addExcess = statement(
  "UPDATE hold SET amount = amount + ?2, excess = excess + ?2 WHERE id = ?1 AND state = 'open'",
)
/** The number of a journal comes from the database. */
export const insertJournalEntry = statement(
  'INSERT INTO entry (journal_id, account_id, amount) SELECT id, ?2, ?3 FROM journal WHERE ref = ?1',
)
/** Runs after the funds have moved, because it stores the balance of that moment. */
export const insertJournalBooking = readingStatement(
  `INSERT INTO booking (account_id, created_at, journal_id, balance_after)
   SELECT account.id, journal.created_at, journal.id, account.posted
   FROM account, journal WHERE account.id = ?1 AND journal.ref = ?2`,
)
