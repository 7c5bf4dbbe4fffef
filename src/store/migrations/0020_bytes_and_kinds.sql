-- An answer that is kept for a repetition can be bytes, such as audio. A row has a text or bytes, or neither.
ALTER TABLE idempotency ADD COLUMN body_bytes BLOB;
-- The program knows the kinds of models, so a new kind changes no table. A column loses its CHECK by being made anew.
ALTER TABLE model ADD COLUMN new_kind TEXT NOT NULL DEFAULT 'text';
UPDATE model SET new_kind = kind;
ALTER TABLE model DROP COLUMN kind;
ALTER TABLE model RENAME COLUMN new_kind TO kind;
