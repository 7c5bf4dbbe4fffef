-- Which key pepper and master key this database belongs to, told by an HMAC of a fixed text under each: enough to
-- refuse another one at the start, instead of refusing every API key later.
CREATE TABLE secret_check (
  name          TEXT PRIMARY KEY CHECK (name IN ('key_pepper', 'master_key')),
  digest        BLOB NOT NULL
) STRICT, WITHOUT ROWID;
