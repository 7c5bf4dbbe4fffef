-- Money is int64 nano-USD, times are Unix milliseconds, lists are JSON text. Ids are the gateway's own.

CREATE TABLE account (
  id            TEXT PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE,
  status        TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
  allowed_models TEXT,
  declared      INTEGER NOT NULL DEFAULT 0,
  posted        INTEGER NOT NULL DEFAULT 0,
  held          INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  created_at    INTEGER NOT NULL,
  CHECK (posted - held >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  id            TEXT PRIMARY KEY,
  account_id    TEXT NOT NULL REFERENCES account (id),
  name          TEXT NOT NULL,
  digest        BLOB NOT NULL UNIQUE,
  last4         TEXT NOT NULL,
  allowed_models TEXT,
  created_at    INTEGER NOT NULL,
  revoked_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_by_account ON api_key (account_id, id);

-- The ledger. A journal is one event, its entries sum to zero. System accounts ('system:…') have no row in `account`:
-- their balance is the sum of their entries, so that no charge ever waits for a shared row.
-- The tables a charge writes have as few B-trees as they can: each is a page more in every commit (measured: 232 µs of
-- CPU for a lone hold and settlement with one tree more per table and foreign keys, 152 without).
-- A charge is unique by its hold, which resolves once; everything else by its `ref`.
CREATE TABLE journal (
  id            INTEGER PRIMARY KEY,
  kind          TEXT NOT NULL CHECK (kind IN ('credit', 'debit', 'charge', 'refund')),
  ref           TEXT CHECK ((ref IS NULL) = (kind = 'charge')),
  hold_id       TEXT CHECK ((hold_id IS NOT NULL) = (kind = 'charge')),
  price_card_id INTEGER,
  reason        TEXT,
  created_at    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX journal_by_ref ON journal (ref) WHERE ref IS NOT NULL;

CREATE TABLE entry (
  journal_id    INTEGER NOT NULL,
  account_id    TEXT NOT NULL,
  amount        INTEGER NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (journal_id, account_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER journal_is_final BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'a journal is never changed'); END;
CREATE TRIGGER journal_stays BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'a journal is never deleted'); END;
CREATE TRIGGER entry_is_final BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;

-- A hold is made by a request and resolved once: open → settled | released | expired.
CREATE TABLE hold (
  id            TEXT PRIMARY KEY,
  account_id    TEXT NOT NULL,
  amount        INTEGER NOT NULL CHECK (amount >= 0),
  state         TEXT NOT NULL CHECK (state IN ('open', 'settled', 'released', 'expired')),
  settled       INTEGER CHECK ((state = 'settled') = (settled IS NOT NULL)),
  owner         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  resolved_at   INTEGER CHECK ((state = 'open') = (resolved_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX hold_open ON hold (account_id, id) WHERE state = 'open';

CREATE TABLE provider (
  id            TEXT PRIMARY KEY,
  preset        TEXT NOT NULL,
  base_url      TEXT NOT NULL,
  secret        BLOB,
  hang_up       TEXT CHECK (hang_up IN ('stops_billing', 'bills_on')),
  declared      INTEGER NOT NULL DEFAULT 0,
  removed_at    INTEGER,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE model (
  id            TEXT PRIMARY KEY,
  owned_by      TEXT NOT NULL,
  limits        TEXT NOT NULL,
  declared      INTEGER NOT NULL DEFAULT 0,
  removed_at    INTEGER,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE offer (
  id            TEXT PRIMARY KEY,
  model_id      TEXT NOT NULL REFERENCES model (id),
  provider_id   TEXT NOT NULL REFERENCES provider (id),
  upstream_model TEXT NOT NULL,
  priority      INTEGER NOT NULL,
  weight        INTEGER NOT NULL CHECK (weight > 0),
  removed_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX offer_by_model ON offer (model_id);

-- Dated price cards: of a model (what the customer pays) or of an offer (what it costs). Never edited; the newest wins.
CREATE TABLE price_card (
  id            INTEGER PRIMARY KEY,
  subject       TEXT NOT NULL CHECK (subject IN ('model', 'offer')),
  subject_id    TEXT NOT NULL,
  effective_from INTEGER NOT NULL
) STRICT;
CREATE INDEX price_card_by_subject ON price_card (subject, subject_id, effective_from);

CREATE TABLE price (
  card_id       INTEGER NOT NULL REFERENCES price_card (id),
  tier          TEXT NOT NULL DEFAULT 'standard',
  unit          TEXT NOT NULL,
  nano_per_million INTEGER NOT NULL CHECK (nano_per_million >= 0),
  PRIMARY KEY (card_id, tier, unit)
) STRICT, WITHOUT ROWID;

-- One row per request that held money, written in the transaction that resolves its hold.
CREATE TABLE request_record (
  account_id    TEXT NOT NULL,
  id            TEXT NOT NULL,
  key_id        TEXT NOT NULL,
  endpoint      TEXT NOT NULL,
  model         TEXT NOT NULL,
  stream        INTEGER NOT NULL,
  status        INTEGER NOT NULL,
  outcome       TEXT NOT NULL,
  error_code    TEXT,
  offer_id      TEXT,
  provider_id   TEXT,
  upstream_model TEXT,
  input_fresh   INTEGER NOT NULL,
  input_cached  INTEGER NOT NULL,
  cache_write_5m INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  output_text   INTEGER NOT NULL,
  output_reasoning INTEGER NOT NULL,
  usage_source  TEXT,
  price_card_id INTEGER,
  cost_card_id  INTEGER,
  held          INTEGER NOT NULL,
  charged       INTEGER NOT NULL,
  written_off   INTEGER NOT NULL,
  upstream_cost INTEGER NOT NULL,
  attempts      TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  first_event_ms INTEGER,
  total_ms      INTEGER NOT NULL,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
