-- Requests that were refused before any money was held: so many of each account, the newest.
CREATE TABLE refused_request (
  -- Empty: nobody's that is known.
  account_id    TEXT NOT NULL,
  id            TEXT NOT NULL,
  key_id        TEXT,
  method        TEXT NOT NULL,
  endpoint      TEXT NOT NULL,
  model         TEXT,
  status        INTEGER NOT NULL,
  code          TEXT NOT NULL,
  -- How many like it followed that have no row of their own, and when the last of them came.
  repeats       INTEGER NOT NULL,
  last_at       INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX refused_request_id ON refused_request (id);

-- How many there were, with and without a row.
CREATE TABLE refused_hour (
  account_id    TEXT NOT NULL,
  hour          INTEGER NOT NULL,
  status        INTEGER NOT NULL,
  code          TEXT NOT NULL,
  requests      INTEGER NOT NULL,
  PRIMARY KEY (account_id, hour, status, code)
) STRICT, WITHOUT ROWID;
CREATE INDEX refused_hour_hour ON refused_hour (hour);
