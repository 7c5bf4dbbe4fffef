-- A charge is its settled hold: it says who pays, how much of the cost, what was written off, and by which price card.
-- Its entries follow from it and need no rows: a charge that does not add up, one without a hold, and a hold with two of
-- them can no longer be written. It was four rows a request, and is one (measured: 15 µs of CPU for a hold and its
-- settlement in one commit with all four, 12 with one). `journal` and `entry` keep what the operator books.
CREATE INDEX journal_by_hold ON journal (hold_id) WHERE kind = 'charge';

-- Charges of before become the same, where they were sound. Unsound ones would look sound afterwards: such a database is
-- left to the version before, which names them all (`tollgate verify-ledger`).
CREATE TABLE unsound (subject TEXT NOT NULL, why TEXT NOT NULL);
CREATE TRIGGER unsound_stops BEFORE INSERT ON unsound BEGIN
  SELECT RAISE(ABORT, 'the ledger of before is broken, and was left as it is: ' || NEW.subject || ', ' || NEW.why
    || '; the version before serves it, and has the rest in its verify-ledger');
END;
INSERT INTO unsound SELECT 'journal ' || journal_id, 'its entries sum to ' || sum(amount)
  FROM entry GROUP BY journal_id HAVING sum(amount) <> 0;
INSERT INTO unsound SELECT 'entry of journal ' || journal_id, 'there is no such journal'
  FROM entry WHERE journal_id NOT IN (SELECT id FROM journal);
INSERT INTO unsound SELECT 'charge ' || journal.id, 'it has no settled hold'
  FROM journal LEFT JOIN hold ON hold.id = journal.hold_id AND hold.state = 'settled'
  WHERE journal.kind = 'charge' AND hold.id IS NULL;
INSERT INTO unsound SELECT 'hold ' || hold.id, 'it has ' || count(journal.id) || ' charges'
  FROM hold LEFT JOIN journal ON journal.hold_id = hold.id AND journal.kind = 'charge'
  WHERE hold.state = 'settled' GROUP BY hold.id HAVING count(journal.id) <> 1;
INSERT INTO unsound SELECT 'hold ' || hold.id, 'settled are ' || hold.settled || ', its charge took ' || coalesce(-entry.amount, 0)
  FROM hold JOIN journal ON journal.hold_id = hold.id AND journal.kind = 'charge'
  LEFT JOIN entry ON entry.journal_id = journal.id AND entry.account_id = hold.account_id
  WHERE hold.settled <> coalesce(-entry.amount, 0);
INSERT INTO unsound SELECT 'charge ' || journal.id, 'it has an entry of ' || entry.account_id
  FROM journal JOIN hold ON hold.id = journal.hold_id JOIN entry ON entry.journal_id = journal.id
  WHERE journal.kind = 'charge' AND entry.account_id NOT IN (hold.account_id, 'system:revenue', 'system:write-off');
INSERT INTO unsound SELECT 'hold ' || hold.id, 'it settled less than nothing'
  FROM hold JOIN journal ON journal.hold_id = hold.id AND journal.kind = 'charge'
  LEFT JOIN entry ON entry.journal_id = journal.id AND entry.account_id = 'system:write-off'
  WHERE hold.settled < 0 OR entry.amount > 0;
DROP TABLE unsound;

CREATE TABLE hold_with_charge (
  id            TEXT PRIMARY KEY,
  account_id    TEXT NOT NULL,
  amount        INTEGER NOT NULL CHECK (amount >= 0),
  state         TEXT NOT NULL CHECK (state IN ('open', 'settled', 'released', 'expired')),
  cost          INTEGER CHECK ((state = 'settled') = (cost IS NOT NULL)),
  settled       INTEGER CHECK ((state = 'settled') = (settled IS NOT NULL) AND settled >= 0),
  written_off   INTEGER CHECK ((state = 'settled') = (written_off IS NOT NULL) AND written_off >= 0),
  price_card_id INTEGER CHECK (state = 'settled' OR price_card_id IS NULL),
  owner         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  resolved_at   INTEGER CHECK ((state = 'open') = (resolved_at IS NULL)),
  CHECK (settled + written_off = cost)
) STRICT, WITHOUT ROWID;
INSERT INTO hold_with_charge
  SELECT hold.id, hold.account_id, hold.amount, hold.state,
         iif(hold.state = 'settled', coalesce(earned.amount, 0), NULL), hold.settled,
         iif(hold.state = 'settled', coalesce(-lacking.amount, 0), NULL), journal.price_card_id,
         hold.owner, hold.created_at, hold.resolved_at
  FROM hold LEFT JOIN journal ON journal.hold_id = hold.id AND journal.kind = 'charge'
  LEFT JOIN entry AS earned ON earned.journal_id = journal.id AND earned.account_id = 'system:revenue'
  LEFT JOIN entry AS lacking ON lacking.journal_id = journal.id AND lacking.account_id = 'system:write-off'
  ORDER BY hold.id;
DROP TABLE hold;
ALTER TABLE hold_with_charge RENAME TO hold;
CREATE INDEX hold_open ON hold (account_id, id) WHERE state = 'open';

CREATE TABLE journal_of_bookings (
  id            INTEGER PRIMARY KEY,
  kind          TEXT NOT NULL CHECK (kind IN ('credit', 'debit', 'refund')),
  ref           TEXT NOT NULL,
  reason        TEXT,
  created_at    INTEGER NOT NULL
) STRICT;
INSERT INTO journal_of_bookings SELECT id, kind, ref, reason, created_at FROM journal WHERE kind <> 'charge' ORDER BY id;
CREATE TABLE entry_of_bookings (
  journal_id    INTEGER NOT NULL,
  account_id    TEXT NOT NULL,
  amount        INTEGER NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (journal_id, account_id)
) STRICT, WITHOUT ROWID;
INSERT INTO entry_of_bookings SELECT journal_id, account_id, amount FROM entry
  WHERE journal_id NOT IN (SELECT id FROM journal WHERE kind = 'charge') ORDER BY journal_id, account_id;
DROP TABLE entry;
DROP TABLE journal;
ALTER TABLE journal_of_bookings RENAME TO journal;
ALTER TABLE entry_of_bookings RENAME TO entry;
CREATE UNIQUE INDEX journal_by_ref ON journal (ref);

CREATE TRIGGER journal_is_final BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'a journal is never changed'); END;
CREATE TRIGGER journal_stays BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'a journal is never deleted'); END;
CREATE TRIGGER entry_is_final BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;
CREATE TRIGGER hold_is_final BEFORE UPDATE ON hold WHEN OLD.state <> 'open'
  BEGIN SELECT RAISE(ABORT, 'a hold resolves once and is never changed then'); END;
CREATE TRIGGER hold_is_of_one BEFORE UPDATE OF id, account_id, amount, owner, created_at ON hold
  BEGIN SELECT RAISE(ABORT, 'a hold is only resolved'); END;
CREATE TRIGGER hold_stays BEFORE DELETE ON hold BEGIN SELECT RAISE(ABORT, 'a hold is never deleted'); END;

-- Every entry of the books: those of bookings, and those that follow from charges.
CREATE VIEW books (kind, subject, account_id, amount) AS
  SELECT journal.kind, journal.ref, entry.account_id, entry.amount
  FROM entry JOIN journal ON journal.id = entry.journal_id
  UNION ALL SELECT 'charge', id, account_id, -settled FROM hold WHERE settled <> 0
  UNION ALL SELECT 'charge', id, 'system:write-off', -written_off FROM hold WHERE written_off <> 0
  UNION ALL SELECT 'charge', id, 'system:revenue', cost FROM hold WHERE cost <> 0;
