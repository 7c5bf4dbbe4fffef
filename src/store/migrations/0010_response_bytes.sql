-- What a turn takes on the disk, and by the index what an account's turns take, without reading one of them.
ALTER TABLE response ADD COLUMN bytes INTEGER NOT NULL GENERATED ALWAYS AS (
  octet_length(head) + octet_length(standing) + octet_length(input) + octet_length(output)
  + coalesce(octet_length(trace), 0)
) VIRTUAL;
CREATE INDEX response_bytes ON response (account_id, bytes);
