-- The schema of src/store/migrations after its migration 0020, and the tables that instances share (at the end).
-- Money is int8 nano-USD, times are Unix milliseconds, flags are 0 and 1, lists are JSON text, as in SQLite: a row reads
-- the same from both stores. Text is compared byte by byte, because ids are paged by `<`: every column has COLLATE "C".
-- A unique key is named by its table and columns, so that a violation names the same key on both stores.

CREATE TABLE account (
  id            text COLLATE "C" CONSTRAINT "account(id)" PRIMARY KEY,
  name          text COLLATE "C" NOT NULL CONSTRAINT "account(name)" UNIQUE,
  status        text COLLATE "C" NOT NULL CHECK (status IN ('active', 'suspended')),
  allowed_models text COLLATE "C",
  limits        text COLLATE "C", -- JSON. NULL: none
  low_balance   bigint CHECK (low_balance > 0),
  declared      bigint NOT NULL DEFAULT 0,
  posted        bigint NOT NULL DEFAULT 0,
  held          bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  created_at    bigint NOT NULL,
  CHECK (posted - held >= 0)
) WITH (fillfactor = 50); -- Every batch makes a new version of the row: it stays on its page.

CREATE TABLE api_key (
  id            text COLLATE "C" CONSTRAINT "api_key(id)" PRIMARY KEY,
  account_id    text COLLATE "C" NOT NULL REFERENCES account (id),
  name          text COLLATE "C" NOT NULL,
  kind          text COLLATE "C" NOT NULL DEFAULT 'client' CHECK (kind IN ('client', 'playground')),
  digest        bytea NOT NULL CONSTRAINT "api_key(digest)" UNIQUE,
  last4         text COLLATE "C" NOT NULL,
  allowed_models text COLLATE "C",
  limits        text COLLATE "C",
  created_at    bigint NOT NULL,
  revoked_at    bigint
);
CREATE INDEX api_key_by_account ON api_key (account_id, id);

CREATE TABLE "user" (
  id            text COLLATE "C" CONSTRAINT "user(id)" PRIMARY KEY,
  name          text COLLATE "C" NOT NULL,
  role          text COLLATE "C" NOT NULL CHECK (role IN ('operator', 'owner', 'member')),
  account_id    text COLLATE "C" REFERENCES account (id) CHECK ((role = 'operator') = (account_id IS NULL)),
  password      text COLLATE "C",
  disabled_at   bigint,
  created_at    bigint NOT NULL
);
-- Upper and lower case of ASCII are the same name.
CREATE UNIQUE INDEX "user(name)" ON "user" (lower(name));

CREATE TABLE setup_link (
  digest        text COLLATE "C" CONSTRAINT "setup_link(digest)" PRIMARY KEY,
  user_id       text COLLATE "C" REFERENCES "user" (id),
  created_at    bigint NOT NULL,
  expires_at    bigint NOT NULL,
  used_at       bigint
);

CREATE TABLE session (
  id            text COLLATE "C" CONSTRAINT "session(id)" PRIMARY KEY,
  digest        text COLLATE "C" NOT NULL CONSTRAINT "session(digest)" UNIQUE,
  user_id       text COLLATE "C" NOT NULL REFERENCES "user" (id),
  address       text COLLATE "C" NOT NULL,
  agent         text COLLATE "C" NOT NULL,
  view_as       text COLLATE "C" REFERENCES account (id), -- An operator looks at the console as this account sees it.
  created_at    bigint NOT NULL,
  seen_at       bigint NOT NULL
);
CREATE INDEX session_by_user ON session (user_id);

CREATE TABLE saved_view (
  user_id       text COLLATE "C" NOT NULL REFERENCES "user" (id),
  id            text COLLATE "C" NOT NULL,
  name          text COLLATE "C" NOT NULL,
  query         text COLLATE "C" NOT NULL,
  created_at    bigint NOT NULL,
  CONSTRAINT "saved_view(user_id, id)" PRIMARY KEY (user_id, id),
  CONSTRAINT "saved_view(user_id, name)" UNIQUE (user_id, name)
);

CREATE TABLE management_key (
  id            text COLLATE "C" CONSTRAINT "management_key(id)" PRIMARY KEY,
  account_id    text COLLATE "C" REFERENCES account (id), -- NULL: an operator's
  name          text COLLATE "C" NOT NULL,
  digest        text COLLATE "C" NOT NULL CONSTRAINT "management_key(digest)" UNIQUE,
  last4         text COLLATE "C" NOT NULL,
  created_by    text COLLATE "C",
  created_at    bigint NOT NULL,
  revoked_at    bigint
);

CREATE TABLE audit (
  id            text COLLATE "C" CONSTRAINT "audit(id)" PRIMARY KEY,
  actor_kind    text COLLATE "C" NOT NULL CHECK (actor_kind IN ('command', 'user', 'management_key', 'nobody')),
  actor_id      text COLLATE "C",
  actor_name    text COLLATE "C",
  address       text COLLATE "C",
  request_id    text COLLATE "C",
  action        text COLLATE "C" NOT NULL,
  subject       text COLLATE "C",
  input         text COLLATE "C" NOT NULL, -- JSON without secrets, as what was and what became of the subject
  before        text COLLATE "C",
  after         text COLLATE "C",
  outcome       text COLLATE "C",
  created_at    bigint NOT NULL
);
CREATE INDEX audit_by_subject ON audit (subject, id);
CREATE INDEX audit_by_actor ON audit (actor_id, id);
CREATE INDEX audit_by_action ON audit (action, id);

-- A charge is its settled hold: open → settled | released | expired. Its entries follow from it and need no rows.
CREATE TABLE hold (
  id            text COLLATE "C" CONSTRAINT "hold(id)" PRIMARY KEY,
  account_id    text COLLATE "C" NOT NULL,
  amount        bigint NOT NULL CHECK (amount >= 0),
  state         text COLLATE "C" NOT NULL CHECK (state IN ('open', 'settled', 'released', 'expired')),
  cost          bigint CHECK ((state = 'settled') = (cost IS NOT NULL)),
  settled       bigint CHECK ((state = 'settled') = (settled IS NOT NULL) AND settled >= 0),
  written_off   bigint CHECK ((state = 'settled') = (written_off IS NOT NULL) AND written_off >= 0),
  price_card_id bigint CHECK (state = 'settled' OR price_card_id IS NULL),
  owner         text COLLATE "C" NOT NULL, -- An instance, 'task' (a video), or nobody: it was never open on disk.
  -- The meters that count it, separated by blanks, the day on which they do, and the tokens that they took. What expires
  -- is given back to them. NULL: no limits.
  meters        text COLLATE "C",
  meter_day     bigint,
  tokens        bigint,
  -- The part of the amount that a cost above the hold added at its end. Meters do not count it.
  excess        bigint NOT NULL DEFAULT 0,
  created_at    bigint NOT NULL,
  resolved_at   bigint CHECK ((state = 'open') = (resolved_at IS NULL)),
  CHECK (settled + written_off = cost)
);
CREATE INDEX hold_open ON hold (account_id, id) WHERE state = 'open';
CREATE INDEX hold_by_owner ON hold (owner, id) WHERE state = 'open';

-- What the operator books. A journal is one event, its entries sum to zero. System accounts ('system:…') have no row in
-- `account`: their balance is the sum of their entries.
CREATE TABLE journal (
  id            bigint GENERATED BY DEFAULT AS IDENTITY CONSTRAINT "journal(id)" PRIMARY KEY,
  kind          text COLLATE "C" NOT NULL CHECK (kind IN ('credit', 'debit', 'refund')),
  ref           text COLLATE "C" NOT NULL CONSTRAINT "journal(ref)" UNIQUE,
  reason        text COLLATE "C",
  created_at    bigint NOT NULL
);

CREATE TABLE entry (
  journal_id    bigint NOT NULL,
  account_id    text COLLATE "C" NOT NULL,
  amount        bigint NOT NULL CHECK (amount <> 0),
  CONSTRAINT "entry(journal_id, account_id)" PRIMARY KEY (journal_id, account_id)
);

CREATE TABLE booking (
  account_id    text COLLATE "C" NOT NULL,
  created_at    bigint NOT NULL,
  journal_id    bigint NOT NULL,
  balance_after bigint NOT NULL DEFAULT 0,
  CONSTRAINT "booking(account_id, created_at, journal_id)" PRIMARY KEY (account_id, created_at, journal_id)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER journal_is_final BEFORE UPDATE ON journal
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a journal is never changed');
CREATE TRIGGER journal_stays BEFORE DELETE ON journal
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a journal is never deleted');
CREATE TRIGGER journal_is_kept BEFORE TRUNCATE ON journal EXECUTE FUNCTION refuse_change('a journal is never deleted');
CREATE TRIGGER entry_is_final BEFORE UPDATE ON entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('an entry is never changed');
CREATE TRIGGER entry_stays BEFORE DELETE ON entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('an entry is never deleted');
CREATE TRIGGER entry_is_kept BEFORE TRUNCATE ON entry EXECUTE FUNCTION refuse_change('an entry is never deleted');
CREATE TRIGGER hold_is_final BEFORE UPDATE ON hold FOR EACH ROW WHEN (OLD.state <> 'open')
  EXECUTE FUNCTION refuse_change('a hold resolves once and is never changed then');
CREATE TRIGGER hold_is_of_one BEFORE UPDATE OF id, account_id, owner, created_at ON hold
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a hold is only extended and resolved');
CREATE TRIGGER hold_only_grows BEFORE UPDATE OF amount ON hold FOR EACH ROW WHEN (NEW.amount < OLD.amount)
  EXECUTE FUNCTION refuse_change('a hold never shrinks');
CREATE TRIGGER hold_stays BEFORE DELETE ON hold
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a hold is never deleted');
CREATE TRIGGER hold_is_kept BEFORE TRUNCATE ON hold EXECUTE FUNCTION refuse_change('a hold is never deleted');

-- Every entry of the books: those of bookings, and those that follow from charges.
CREATE VIEW books (kind, subject, account_id, amount) AS
  SELECT journal.kind, journal.ref, entry.account_id, entry.amount
  FROM entry JOIN journal ON journal.id = entry.journal_id
  UNION ALL SELECT 'charge', id, account_id, -settled FROM hold WHERE settled <> 0
  UNION ALL SELECT 'charge', id, 'system:write-off', -written_off FROM hold WHERE written_off <> 0
  UNION ALL SELECT 'charge', id, 'system:revenue', cost FROM hold WHERE cost <> 0;

-- Codes that add to a balance, each once. The code itself is not kept, only its digest and its end.
CREATE TABLE redemption_code (
  id            text COLLATE "C" CONSTRAINT "redemption_code(id)" PRIMARY KEY,
  batch_id      text COLLATE "C" NOT NULL,
  digest        text COLLATE "C" NOT NULL CONSTRAINT "redemption_code(digest)" UNIQUE,
  last4         text COLLATE "C" NOT NULL,
  amount        bigint NOT NULL CHECK (amount > 0),
  note          text COLLATE "C" NOT NULL,
  created_at    bigint NOT NULL,
  expires_at    bigint,
  voided_at     bigint,
  redeemed_at   bigint,
  redeemed_by   text COLLATE "C" REFERENCES account (id) CHECK ((redeemed_by IS NULL) = (redeemed_at IS NULL)),
  CHECK (voided_at IS NULL OR redeemed_at IS NULL)
);
CREATE INDEX redemption_code_by_batch ON redemption_code (batch_id, id);
CREATE INDEX redemption_code_by_account ON redemption_code (redeemed_by, id) WHERE redeemed_by IS NOT NULL;

CREATE TABLE provider (
  id            text COLLATE "C" CONSTRAINT "provider(id)" PRIMARY KEY,
  preset        text COLLATE "C" NOT NULL,
  base_url      text COLLATE "C" NOT NULL,
  allow_private bigint NOT NULL DEFAULT 0 CHECK (allow_private IN (0, 1)),
  secret        bytea,
  hang_up       text COLLATE "C" CHECK (hang_up IN ('stops_billing', 'bills_on')),
  concurrent_requests bigint CHECK (concurrent_requests > 0),
  declared      bigint NOT NULL DEFAULT 0,
  drained_at    bigint, -- A drained provider gets no new requests.
  removed_at    bigint,
  created_at    bigint NOT NULL
);

CREATE TABLE model (
  id            text COLLATE "C" CONSTRAINT "model(id)" PRIMARY KEY,
  owned_by      text COLLATE "C" NOT NULL,
  kind          text COLLATE "C" NOT NULL DEFAULT 'text', -- the program knows which there are
  limits        text COLLATE "C" NOT NULL,
  declared      bigint NOT NULL DEFAULT 0,
  removed_at    bigint,
  created_at    bigint NOT NULL
);

CREATE TABLE offer (
  id            text COLLATE "C" CONSTRAINT "offer(id)" PRIMARY KEY,
  model_id      text COLLATE "C" NOT NULL REFERENCES model (id),
  provider_id   text COLLATE "C" NOT NULL REFERENCES provider (id),
  upstream_model text COLLATE "C" NOT NULL,
  priority      bigint NOT NULL,
  weight        bigint NOT NULL CHECK (weight > 0),
  context_tokens bigint,
  removed_at    bigint
);
CREATE INDEX offer_by_model ON offer (model_id);

-- Dated price cards: of a model (what the customer pays) or of an offer (what it costs). Never edited; the newest wins.
CREATE TABLE price_card (
  id            bigint GENERATED BY DEFAULT AS IDENTITY CONSTRAINT "price_card(id)" PRIMARY KEY,
  subject       text COLLATE "C" NOT NULL CHECK (subject IN ('model', 'offer')),
  subject_id    text COLLATE "C" NOT NULL,
  effective_from bigint NOT NULL
);
CREATE INDEX price_card_by_subject ON price_card (subject, subject_id, effective_from);

CREATE TABLE price (
  card_id       bigint NOT NULL REFERENCES price_card (id),
  tier          text COLLATE "C" NOT NULL DEFAULT 'standard',
  unit          text COLLATE "C" NOT NULL,
  nano_per_million bigint NOT NULL CHECK (nano_per_million >= 0),
  CONSTRAINT "price(card_id, tier, unit)" PRIMARY KEY (card_id, tier, unit)
);

-- One row per request that held money, written in the transaction that resolves its hold.
CREATE TABLE request_record (
  account_id    text COLLATE "C" NOT NULL,
  id            text COLLATE "C" NOT NULL,
  key_id        text COLLATE "C" NOT NULL,
  endpoint      text COLLATE "C" NOT NULL,
  model         text COLLATE "C" NOT NULL,
  stream        bigint NOT NULL,
  status        bigint NOT NULL,
  outcome       text COLLATE "C" NOT NULL,
  error_code    text COLLATE "C",
  offer_id      text COLLATE "C",
  provider_id   text COLLATE "C",
  upstream_model text COLLATE "C",
  input_fresh   bigint NOT NULL,
  input_cached  bigint NOT NULL,
  cache_write_5m bigint NOT NULL,
  cache_write_1h bigint NOT NULL,
  output_text   bigint NOT NULL,
  output_reasoning bigint NOT NULL,
  input_image   bigint NOT NULL DEFAULT 0,
  output_image  bigint NOT NULL DEFAULT 0,
  pieces        text COLLATE "C", -- What is sold by the piece, as JSON.
  usage_source  text COLLATE "C",
  price_card_id bigint,
  cost_card_id  bigint,
  held          bigint NOT NULL,
  charged       bigint NOT NULL,
  written_off   bigint NOT NULL,
  upstream_cost bigint NOT NULL,
  -- The output limit that was sent upstream although the client asked for none, per choice, and why.
  output_cap    bigint,
  output_cap_reason text COLLATE "C",
  attempts      text COLLATE "C" NOT NULL,
  created_at    bigint NOT NULL,
  first_event_ms bigint,
  total_ms      bigint NOT NULL,
  written_by    xid8 NOT NULL DEFAULT pg_current_xact_id(), -- By this the feed finds what any instance has written.
  CONSTRAINT "request_record(account_id, id)" PRIMARY KEY (account_id, id)
);
CREATE INDEX request_record_by_writer ON request_record (written_by);

-- Requests that were refused before any money was held: so many of each account, the newest.
CREATE TABLE refused_request (
  account_id    text COLLATE "C" NOT NULL, -- Empty: nobody's that is known.
  id            text COLLATE "C" NOT NULL,
  key_id        text COLLATE "C",
  method        text COLLATE "C" NOT NULL,
  endpoint      text COLLATE "C" NOT NULL,
  model         text COLLATE "C",
  status        bigint NOT NULL,
  code          text COLLATE "C" NOT NULL,
  -- How many like it followed that have no row of their own, and when the last of them came.
  repeats       bigint NOT NULL,
  last_at       bigint NOT NULL,
  created_at    bigint NOT NULL,
  CONSTRAINT "refused_request(account_id, id)" PRIMARY KEY (account_id, id)
);
CREATE INDEX refused_request_id ON refused_request (id);

-- How many there were, with and without a row.
CREATE TABLE refused_hour (
  account_id    text COLLATE "C" NOT NULL,
  hour          bigint NOT NULL,
  status        bigint NOT NULL,
  code          text COLLATE "C" NOT NULL,
  requests      bigint NOT NULL,
  CONSTRAINT "refused_hour(account_id, hour, status, code)" PRIMARY KEY (account_id, hour, status, code)
);
CREATE INDEX refused_hour_hour ON refused_hour (hour);

-- What requests came to, by the hour in which they held their money. Written in the transaction that resolves a hold.
-- Each instance adds to rows of its own shard, so that no two wait for each other. Readers sum them.
CREATE TABLE usage_hour (
  account_id    text COLLATE "C" NOT NULL,
  hour          bigint NOT NULL, -- Unix hours
  key_id        text COLLATE "C" NOT NULL,
  model         text COLLATE "C" NOT NULL,
  endpoint      text COLLATE "C" NOT NULL,
  shard         text COLLATE "C" NOT NULL DEFAULT '',
  requests      bigint NOT NULL,
  failed        bigint NOT NULL,
  cut           bigint NOT NULL,
  estimated     bigint NOT NULL,
  input_fresh   bigint NOT NULL,
  input_cached  bigint NOT NULL,
  cache_write   bigint NOT NULL,
  output_text   bigint NOT NULL,
  output_reasoning bigint NOT NULL,
  input_image   bigint NOT NULL,
  output_image  bigint NOT NULL,
  images        bigint NOT NULL,
  seconds       bigint NOT NULL,
  charged       bigint NOT NULL,
  written_off   bigint NOT NULL,
  upstream_cost bigint NOT NULL,
  first_0       bigint NOT NULL,
  first_1       bigint NOT NULL,
  first_2       bigint NOT NULL,
  first_3       bigint NOT NULL,
  first_4       bigint NOT NULL,
  first_5       bigint NOT NULL,
  first_6       bigint NOT NULL,
  first_7       bigint NOT NULL,
  first_8       bigint NOT NULL,
  first_9       bigint NOT NULL,
  CONSTRAINT "usage_hour(account_id, hour, key_id, model, endpoint, shard)"
    PRIMARY KEY (account_id, hour, key_id, model, endpoint, shard)
) WITH (fillfactor = 50);

-- The sums of whole days, made from those of their hours once nothing can be added to them any more. All days before
-- `usage_days_until` are here; under an empty account and key, all accounts together.
CREATE TABLE usage_day (
  account_id    text COLLATE "C" NOT NULL,
  day           bigint NOT NULL, -- Unix days, in UTC
  key_id        text COLLATE "C" NOT NULL,
  model         text COLLATE "C" NOT NULL,
  endpoint      text COLLATE "C" NOT NULL,
  requests      bigint NOT NULL,
  failed        bigint NOT NULL,
  cut           bigint NOT NULL,
  estimated     bigint NOT NULL,
  input_fresh   bigint NOT NULL,
  input_cached  bigint NOT NULL,
  cache_write   bigint NOT NULL,
  output_text   bigint NOT NULL,
  output_reasoning bigint NOT NULL,
  input_image   bigint NOT NULL,
  output_image  bigint NOT NULL,
  images        bigint NOT NULL,
  seconds       bigint NOT NULL,
  charged       bigint NOT NULL,
  written_off   bigint NOT NULL,
  upstream_cost bigint NOT NULL,
  first_0       bigint NOT NULL,
  first_1       bigint NOT NULL,
  first_2       bigint NOT NULL,
  first_3       bigint NOT NULL,
  first_4       bigint NOT NULL,
  first_5       bigint NOT NULL,
  first_6       bigint NOT NULL,
  first_7       bigint NOT NULL,
  first_8       bigint NOT NULL,
  first_9       bigint NOT NULL,
  CONSTRAINT "usage_day(account_id, day, key_id, model, endpoint)"
    PRIMARY KEY (account_id, day, key_id, model, endpoint)
);
CREATE TABLE usage_days_until (
  day           bigint NOT NULL
);
INSERT INTO usage_days_until VALUES (extract(epoch FROM now())::bigint / 86400);

-- What a request with an Idempotency-Key is being answered, or was. Begun with the hold, ended with its resolution.
CREATE TABLE idempotency (
  account_id    text COLLATE "C" NOT NULL,
  key           text COLLATE "C" NOT NULL,
  fingerprint   bytea NOT NULL,
  request_id    text COLLATE "C" NOT NULL,
  status        bigint, -- NULL while the request is under way
  headers       text COLLATE "C",
  body          text COLLATE "C", -- a text or bytes; neither when the answer was too large to keep
  body_bytes    bytea,
  created_at    bigint NOT NULL,
  CONSTRAINT "idempotency(account_id, key)" PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_running ON idempotency (request_id) WHERE status IS NULL;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Turns of conversations. The owner of its hold makes a running one.
CREATE TABLE response (
  account_id    text COLLATE "C" NOT NULL,
  id            text COLLATE "C" NOT NULL,
  parent_id     text COLLATE "C",
  state         text COLLATE "C" NOT NULL CHECK (state IN ('running', 'ended')),
  head          text COLLATE "C" NOT NULL, -- what the request decided of the Response object
  standing      text COLLATE "C" NOT NULL, -- what its end decided
  input         text COLLATE "C" NOT NULL, -- the items of this turn alone
  output        text COLLATE "C" NOT NULL,
  trace         text COLLATE "C",          -- how the stream was cut into events, where it may be followed
  created_at    bigint NOT NULL,
  bytes         bigint NOT NULL GENERATED ALWAYS AS (
    octet_length(head) + octet_length(standing) + octet_length(input) + octet_length(output)
    + coalesce(octet_length(trace), 0)
  ) STORED,
  CONSTRAINT "response(account_id, id)" PRIMARY KEY (account_id, id)
);
CREATE INDEX response_running ON response (id) WHERE state = 'running';
CREATE INDEX response_by_age ON response (created_at);
CREATE INDEX response_bytes ON response (account_id, bytes);

CREATE TABLE video_task (
  id            text COLLATE "C" CONSTRAINT "video_task(id)" PRIMARY KEY,
  account_id    text COLLATE "C" NOT NULL,
  key_id        text COLLATE "C" NOT NULL,
  -- Of the request that made it, and of its hold.
  request_id    text COLLATE "C" NOT NULL CONSTRAINT "video_task(request_id)" UNIQUE,
  model         text COLLATE "C" NOT NULL,
  stage         text COLLATE "C" NOT NULL
    CHECK (stage IN ('submitting', 'queued', 'running', 'upscaling', 'storing', 'completed', 'failed')),
  progress      bigint NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  wish          text COLLATE "C" NOT NULL, -- what was asked for, as far as its price depends on it
  terms         text COLLATE "C" NOT NULL, -- the offers it goes to, and all prices as they were then
  held          bigint NOT NULL,
  offer_id      text COLLATE "C", -- which of the offers took it
  upstream_id   text COLLATE "C", -- NULL while it is not known whether a vendor has it
  upscale_id    text COLLATE "C",
  attempts      text COLLATE "C" NOT NULL DEFAULT '[]',
  made          text COLLATE "C", -- what the vendor said of the finished video
  usage         text COLLATE "C", -- what was charged for
  reason        text COLLATE "C" CHECK ((reason IS NOT NULL) = (stage = 'failed')),
  orphan        text COLLATE "C", -- why a vendor may be at work, and bill, for nobody
  owner         text COLLATE "C" NOT NULL DEFAULT '', -- the instance that works on it, while that lives
  taken_at      bigint, -- when it took the task over from another
  created_at    bigint NOT NULL,
  deadline_at   bigint NOT NULL,
  started_at    bigint,
  ended_at      bigint CHECK ((ended_at IS NOT NULL) = (stage IN ('completed', 'failed'))),
  deleted_at    bigint -- by its client, who sees it no more
);
CREATE INDEX video_task_by_account ON video_task (account_id, request_id);
CREATE INDEX video_task_open ON video_task (id) WHERE ended_at IS NULL;
CREATE INDEX video_task_by_end ON video_task (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX video_task_orphans ON video_task (request_id) WHERE orphan IS NOT NULL;
CREATE UNIQUE INDEX "video_task(offer_id, upstream_id)" ON video_task (offer_id, upstream_id)
  WHERE upstream_id IS NOT NULL;

-- Files that the gateway serves without a key: whoever has the id may fetch it. The id itself is not kept, only its
-- digest.
CREATE TABLE blob (
  digest        text COLLATE "C" CONSTRAINT "blob(digest)" PRIMARY KEY, -- SHA-256 of the id, hexadecimal
  account_id    text COLLATE "C" NOT NULL,
  purpose       text COLLATE "C" NOT NULL CHECK (purpose IN ('image', 'video')),
  content_type  text COLLATE "C" NOT NULL,
  bytes         bigint NOT NULL,
  created_at    bigint NOT NULL,
  expires_at    bigint NOT NULL,
  removed_at    bigint -- The row outlives the file for a while: 410 is not 404.
);
CREATE INDEX blob_by_expiry ON blob (expires_at) WHERE removed_at IS NULL;

-- By what a database recognizes the key pepper and the master key that it belongs to.
CREATE TABLE secret_check (
  name          text COLLATE "C" CONSTRAINT "secret_check(name)" PRIMARY KEY
    CHECK (name IN ('key_pepper', 'master_key')),
  digest        bytea NOT NULL
);

-- What follows is shared by instances and has no counterpart in SQLite.

-- The life of a process. The number of its last batch is fence, heartbeat, and proof that nothing was lost.
CREATE TABLE instance (
  id            text COLLATE "C" CONSTRAINT "instance(id)" PRIMARY KEY, -- new at every start
  state         text COLLATE "C" NOT NULL DEFAULT 'alive' CHECK (state IN ('alive', 'draining', 'dead', 'gone')),
  batch         bigint NOT NULL DEFAULT 0,
  beat          timestamptz NOT NULL DEFAULT clock_timestamp(),
  version       text COLLATE "C",
  process       text COLLATE "C"
) WITH (fillfactor = 20);

-- What a key or an account with limits has used. One row decides. The limits themselves come with each request.
CREATE TABLE meter (
  id            text COLLATE "C" CONSTRAINT "meter(id)" PRIMARY KEY,
  req           double precision NOT NULL DEFAULT 'Infinity', -- What is left of the minute. Full under any limit.
  tok           double precision NOT NULL DEFAULT 'Infinity', -- It may be below zero: use beyond a forecast is owed.
  at            timestamptz NOT NULL DEFAULT clock_timestamp(), -- When these two were refilled.
  in_flight     bigint NOT NULL DEFAULT 0 CHECK (in_flight >= 0), -- Open holds, except those of tasks.
  day           bigint NOT NULL, -- Unix days, in UTC
  day_spent     bigint NOT NULL DEFAULT 0 CHECK (day_spent >= 0),
  day_held      bigint NOT NULL DEFAULT 0 CHECK (day_held >= 0),
  month         bigint NOT NULL, -- Of that day: 12 times the year and the months since its start.
  month_spent   bigint NOT NULL DEFAULT 0 CHECK (month_spent >= 0),
  month_held    bigint NOT NULL DEFAULT 0 CHECK (month_held >= 0)
) WITH (fillfactor = 20);

-- Numbered news for the memory of the other instances. The number comes from a row, not from a sequence: the order of
-- numbers is the order of commits, and a reader that has seen 6 has missed no 5.
CREATE TABLE change_seq (
  n             bigint NOT NULL
) WITH (fillfactor = 20);
INSERT INTO change_seq VALUES (0);
CREATE TABLE change (
  n             bigint CONSTRAINT "change(n)" PRIMARY KEY,
  kind          text COLLATE "C" NOT NULL,
  subject       text COLLATE "C" NOT NULL,
  at            timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- A notification only speeds the news up: instances poll.
CREATE FUNCTION notify_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_change', '');
  RETURN NULL;
END $$;
CREATE TRIGGER change_is_told AFTER INSERT ON change FOR EACH STATEMENT EXECUTE FUNCTION notify_change();

-- The declaration that `tollgate apply` wrote last. Instances with another one warn.
CREATE TABLE applied_declaration (
  id            bigint CONSTRAINT "applied_declaration(id)" PRIMARY KEY CHECK (id = 1),
  digest        text COLLATE "C" NOT NULL, -- SHA-256, hexadecimal
  applied_at    bigint NOT NULL
);

-- Periodic work that one instance does for all.
CREATE TABLE chore (
  name          text COLLATE "C" CONSTRAINT "chore(name)" PRIMARY KEY,
  owner         text COLLATE "C"
) WITH (fillfactor = 50);

-- Token buckets that hold for all instances together, such as attempts to sign in.
CREATE TABLE throttle (
  name          text COLLATE "C" CONSTRAINT "throttle(name)" PRIMARY KEY,
  full_at       timestamptz NOT NULL -- When the bucket is full again.
);
CREATE INDEX throttle_by_end ON throttle (full_at);
