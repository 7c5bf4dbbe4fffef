-- What images and videos come to: tokens of images apart, and what is sold by the piece as JSON text.
ALTER TABLE request_record ADD COLUMN input_image INTEGER NOT NULL DEFAULT 0;
ALTER TABLE request_record ADD COLUMN output_image INTEGER NOT NULL DEFAULT 0;
ALTER TABLE request_record ADD COLUMN pieces TEXT;

-- Files that the gateway serves without a key: whoever has the id may fetch it. The id itself is not kept, only its
-- digest, which is also the file's name in the folder `blobs`.
CREATE TABLE blob (
  digest        TEXT PRIMARY KEY, -- SHA-256 of the id, hexadecimal
  account_id    TEXT NOT NULL,
  purpose       TEXT NOT NULL CHECK (purpose IN ('image', 'video')),
  content_type  TEXT NOT NULL,
  bytes         INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  removed_at    INTEGER -- The row outlives the file for a while: 410 is not 404.
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_by_expiry ON blob (expires_at) WHERE removed_at IS NULL;
