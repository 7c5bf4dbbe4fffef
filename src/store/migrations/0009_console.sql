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
