-- What a balance was right after a booking, written with it: a statement shows what the ledger had, and guesses nothing.
-- Those made so far learn it from the entries: journals are numbered in the order in which they were booked.
ALTER TABLE booking ADD COLUMN balance_after INTEGER NOT NULL DEFAULT 0;
UPDATE booking SET balance_after = passed.balance FROM (
  SELECT account_id, journal_id, sum(amount) OVER (PARTITION BY account_id ORDER BY journal_id) AS balance
  FROM entry WHERE account_id NOT LIKE 'system:%'
) AS passed
WHERE booking.account_id = passed.account_id AND booking.journal_id = passed.journal_id;

-- Below so much available the console warns. Null: it does not.
ALTER TABLE account ADD COLUMN low_balance INTEGER CHECK (low_balance > 0);
