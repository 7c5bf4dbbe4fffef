-- Filters of the list of requests under a name of one's own, for one person, wherever that person signs in.
CREATE TABLE saved_view (
  user_id       TEXT NOT NULL REFERENCES user (id),
  id            TEXT NOT NULL,
  name          TEXT NOT NULL,
  query         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (user_id, id),
  UNIQUE (user_id, name)
) STRICT, WITHOUT ROWID;
