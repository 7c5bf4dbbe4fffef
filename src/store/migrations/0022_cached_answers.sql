-- Answers that later requests with the same question may get. The key is a keyed digest of the question, and the answer
-- is encrypted. Answers can be a mebibyte: with a rowid, so that they do not fatten the tree of keys.
CREATE TABLE cached_answer (
  account_id    TEXT NOT NULL,
  key           TEXT NOT NULL,
  sealed        BLOB NOT NULL,
  bytes         INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT;
CREATE INDEX cached_answer_by_age ON cached_answer (created_at, bytes);
CREATE INDEX cached_answer_by_end ON cached_answer (expires_at);
