-- Answers that later requests with the same question may get. The key is a keyed digest of the question, and the answer
-- is encrypted.
CREATE TABLE cached_answer (
  account_id    text COLLATE "C" NOT NULL,
  key           text COLLATE "C" NOT NULL,
  sealed        bytea NOT NULL,
  bytes         bigint NOT NULL,
  created_at    bigint NOT NULL,
  expires_at    bigint NOT NULL,
  CONSTRAINT "cached_answer(account_id, key)" PRIMARY KEY (account_id, key)
);
CREATE INDEX cached_answer_by_age ON cached_answer (created_at, bytes);
CREATE INDEX cached_answer_by_end ON cached_answer (expires_at);
