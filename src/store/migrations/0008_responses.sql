-- Turns of conversations, each stored once: what it brought and what was answered, and which turn it continues. Written
-- in the transaction that resolves the request's hold; one that runs in the background also in that which makes it.
-- Turns can be megabytes: with a rowid, so that they do not fatten the tree of keys.
CREATE TABLE response (
  account_id    TEXT NOT NULL,
  id            TEXT NOT NULL,
  parent_id     TEXT,
  state         TEXT NOT NULL CHECK (state IN ('running', 'ended')),
  head          TEXT NOT NULL, -- what the request decided of the Response object
  standing      TEXT NOT NULL, -- what its end decided
  input         TEXT NOT NULL, -- the items of this turn alone
  output        TEXT NOT NULL,
  trace         TEXT,          -- how the stream was cut into events, where it may be followed
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (account_id, id)
) STRICT;
CREATE INDEX response_running ON response (id) WHERE state = 'running';
CREATE INDEX response_by_age ON response (created_at);
