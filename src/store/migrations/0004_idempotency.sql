-- What a request with an Idempotency-Key is being answered, or was. Begun with the hold, ended with its resolution.
-- Bodies can be a mebibyte: with a rowid, so that they do not fatten the tree of keys.
CREATE TABLE idempotency (
  account_id    TEXT NOT NULL,
  key           TEXT NOT NULL,
  fingerprint   BLOB NOT NULL,
  request_id    TEXT NOT NULL,
  status        INTEGER, -- NULL while the request is under way
  headers       TEXT,
  body          TEXT,    -- NULL when the answer was too large to keep
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT;
CREATE INDEX idempotency_running ON idempotency (request_id) WHERE status IS NULL;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
