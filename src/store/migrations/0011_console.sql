-- People who sign in to the console. An operator belongs to no account, everybody else to one. The password is an
-- argon2id hash; NULL until its owner has chosen one.
CREATE TABLE user (
  id            TEXT PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE COLLATE NOCASE,
  role          TEXT NOT NULL CHECK (role IN ('operator', 'owner', 'member')),
  account_id    TEXT REFERENCES account (id) CHECK ((role = 'operator') = (account_id IS NULL)),
  password      TEXT,
  disabled_at   INTEGER,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One-time links by which a password is chosen. Without a user it makes the first operator. Only digests are kept, here
-- and for sessions and management keys: a copy of the database opens nothing.
CREATE TABLE setup_link (
  digest        TEXT PRIMARY KEY,
  user_id       TEXT REFERENCES user (id),
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  used_at       INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  id            TEXT PRIMARY KEY,
  digest        TEXT NOT NULL UNIQUE,
  user_id       TEXT NOT NULL REFERENCES user (id),
  address       TEXT NOT NULL,
  agent         TEXT NOT NULL,
  view_as       TEXT REFERENCES account (id), -- an operator who looks at the console as this account sees it
  created_at    INTEGER NOT NULL,
  seen_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who changed what. Written before the change, and its outcome after it: a change without one was cut short.
CREATE TABLE audit (
  id            TEXT PRIMARY KEY,
  actor_kind    TEXT NOT NULL CHECK (actor_kind IN ('command', 'user', 'management_key', 'nobody')),
  actor_id      TEXT,
  actor_name    TEXT,
  address       TEXT,
  request_id    TEXT,
  action        TEXT NOT NULL,
  subject       TEXT,
  input         TEXT NOT NULL, -- JSON without secrets, as what was and what became of the subject
  before        TEXT,
  after         TEXT,
  outcome       TEXT,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_subject ON audit (subject, id);
CREATE INDEX audit_by_actor ON audit (actor_id, id);
CREATE INDEX audit_by_action ON audit (action, id);

-- Keys by which programs use the console's API: all of it, or what concerns one account. They open nothing else.
CREATE TABLE management_key (
  id            TEXT PRIMARY KEY,
  account_id    TEXT REFERENCES account (id), -- NULL: an operator's
  name          TEXT NOT NULL,
  digest        TEXT NOT NULL UNIQUE,
  last4         TEXT NOT NULL,
  created_by    TEXT,
  created_at    INTEGER NOT NULL,
  revoked_at    INTEGER
) STRICT, WITHOUT ROWID;

-- The sums by the hour learn what the console shows: tokens by bucket, what was cut or estimated, and how long the first
-- event took, as counts below 50, 100, 200 … 12,800 ms and above. Percentiles of a day come from summing those.
DROP TABLE usage_hour;
CREATE TABLE usage_hour (
  account_id    TEXT NOT NULL,
  hour          INTEGER NOT NULL, -- Unix hours
  key_id        TEXT NOT NULL,
  model         TEXT NOT NULL,
  endpoint      TEXT NOT NULL,
  requests      INTEGER NOT NULL,
  failed        INTEGER NOT NULL,
  cut           INTEGER NOT NULL,
  estimated     INTEGER NOT NULL,
  input_fresh   INTEGER NOT NULL,
  input_cached  INTEGER NOT NULL,
  cache_write   INTEGER NOT NULL,
  output_text   INTEGER NOT NULL,
  output_reasoning INTEGER NOT NULL,
  input_image   INTEGER NOT NULL,
  output_image  INTEGER NOT NULL,
  images        INTEGER NOT NULL,
  seconds       INTEGER NOT NULL,
  charged       INTEGER NOT NULL,
  written_off   INTEGER NOT NULL,
  upstream_cost INTEGER NOT NULL,
  first_0       INTEGER NOT NULL,
  first_1       INTEGER NOT NULL,
  first_2       INTEGER NOT NULL,
  first_3       INTEGER NOT NULL,
  first_4       INTEGER NOT NULL,
  first_5       INTEGER NOT NULL,
  first_6       INTEGER NOT NULL,
  first_7       INTEGER NOT NULL,
  first_8       INTEGER NOT NULL,
  first_9       INTEGER NOT NULL,
  PRIMARY KEY (account_id, hour, key_id, model, endpoint)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_hour
SELECT account_id, created_at / 3600000, key_id, model, endpoint, count(*), sum(outcome = 'failed'), sum(outcome = 'cut'),
       total(usage_source = 'estimated'), sum(input_fresh), sum(input_cached), sum(cache_write_5m + cache_write_1h),
       sum(output_text), sum(output_reasoning), sum(input_image), sum(output_image),
       sum(coalesce((SELECT sum(value ->> 'count') FROM json_each(pieces) WHERE value ->> 'unit' LIKE 'piece:image%'), 0)),
       sum(coalesce((SELECT sum(value ->> 'count') FROM json_each(pieces) WHERE value ->> 'unit' LIKE 'piece:second%'), 0)),
       sum(charged), sum(written_off), sum(upstream_cost),
       total(first_event_ms < 50), total(first_event_ms >= 50 AND first_event_ms < 100),
       total(first_event_ms >= 100 AND first_event_ms < 200), total(first_event_ms >= 200 AND first_event_ms < 400),
       total(first_event_ms >= 400 AND first_event_ms < 800), total(first_event_ms >= 800 AND first_event_ms < 1600),
       total(first_event_ms >= 1600 AND first_event_ms < 3200), total(first_event_ms >= 3200 AND first_event_ms < 6400),
       total(first_event_ms >= 6400 AND first_event_ms < 12800), total(first_event_ms >= 12800)
FROM request_record GROUP BY 1, 2, 3, 4, 5;

-- Where the operator's bookings of an account are, by time: its charges are not in the way.
CREATE TABLE booking (
  account_id    TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  journal_id    INTEGER NOT NULL,
  PRIMARY KEY (account_id, created_at, journal_id)
) STRICT, WITHOUT ROWID;
INSERT INTO booking SELECT entry.account_id, journal.created_at, journal.id FROM journal
  JOIN entry ON entry.journal_id = journal.id AND entry.account_id NOT LIKE 'system:%' WHERE journal.ref IS NOT NULL;

-- Codes that add to a balance, each once. The code itself is not kept, only its digest and its end.
CREATE TABLE redemption_code (
  id            TEXT PRIMARY KEY,
  batch_id      TEXT NOT NULL,
  digest        TEXT NOT NULL UNIQUE,
  last4         TEXT NOT NULL,
  amount        INTEGER NOT NULL CHECK (amount > 0),
  note          TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER,
  voided_at     INTEGER,
  redeemed_at   INTEGER,
  redeemed_by   TEXT REFERENCES account (id) CHECK ((redeemed_by IS NULL) = (redeemed_at IS NULL)),
  CHECK (voided_at IS NULL OR redeemed_at IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX redemption_code_by_batch ON redemption_code (batch_id, id);
CREATE INDEX redemption_code_by_account ON redemption_code (redeemed_by, id) WHERE redeemed_by IS NOT NULL;

-- A drained provider gets no new requests.
ALTER TABLE provider ADD COLUMN drained_at INTEGER;

-- The playground spends as a key of its own, which nobody can present.
ALTER TABLE api_key ADD COLUMN kind TEXT NOT NULL DEFAULT 'client' CHECK (kind IN ('client', 'playground'));

-- The sums of whole days, made from those of their hours once nothing can be added to them any more: what a chart of a
-- month reads. All days before `usage_days_until` are here; under an empty account and key, all accounts together.
CREATE TABLE usage_day (
  account_id    TEXT NOT NULL,
  day           INTEGER NOT NULL, -- Unix days, in UTC
  key_id        TEXT NOT NULL,
  model         TEXT NOT NULL,
  endpoint      TEXT NOT NULL,
  requests      INTEGER NOT NULL,
  failed        INTEGER NOT NULL,
  cut           INTEGER NOT NULL,
  estimated     INTEGER NOT NULL,
  input_fresh   INTEGER NOT NULL,
  input_cached  INTEGER NOT NULL,
  cache_write   INTEGER NOT NULL,
  output_text   INTEGER NOT NULL,
  output_reasoning INTEGER NOT NULL,
  input_image   INTEGER NOT NULL,
  output_image  INTEGER NOT NULL,
  images        INTEGER NOT NULL,
  seconds       INTEGER NOT NULL,
  charged       INTEGER NOT NULL,
  written_off   INTEGER NOT NULL,
  upstream_cost INTEGER NOT NULL,
  first_0       INTEGER NOT NULL,
  first_1       INTEGER NOT NULL,
  first_2       INTEGER NOT NULL,
  first_3       INTEGER NOT NULL,
  first_4       INTEGER NOT NULL,
  first_5       INTEGER NOT NULL,
  first_6       INTEGER NOT NULL,
  first_7       INTEGER NOT NULL,
  first_8       INTEGER NOT NULL,
  first_9       INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, key_id, model, endpoint)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_days_until (
  day           INTEGER NOT NULL
) STRICT;
INSERT INTO usage_days_until VALUES (unixepoch() / 86400);
INSERT INTO usage_day SELECT account_id, hour / 24, key_id, model, endpoint,
  sum(requests), sum(failed), sum(cut), sum(estimated), sum(input_fresh), sum(input_cached),
  sum(cache_write), sum(output_text), sum(output_reasoning), sum(input_image), sum(output_image),
  sum(images), sum(seconds), sum(charged), sum(written_off), sum(upstream_cost), sum(first_0), sum(first_1),
  sum(first_2), sum(first_3), sum(first_4), sum(first_5), sum(first_6), sum(first_7), sum(first_8),
  sum(first_9)
FROM usage_hour WHERE hour < unixepoch() / 86400 * 24 GROUP BY 1, 2, 3, 4, 5;
INSERT INTO usage_day SELECT '', hour / 24, '', model, endpoint,
  sum(requests), sum(failed), sum(cut), sum(estimated), sum(input_fresh), sum(input_cached),
  sum(cache_write), sum(output_text), sum(output_reasoning), sum(input_image), sum(output_image),
  sum(images), sum(seconds), sum(charged), sum(written_off), sum(upstream_cost), sum(first_0), sum(first_1),
  sum(first_2), sum(first_3), sum(first_4), sum(first_5), sum(first_6), sum(first_7), sum(first_8),
  sum(first_9)
FROM usage_hour WHERE hour < unixepoch() / 86400 * 24 GROUP BY 1, 2, 3, 4, 5;
