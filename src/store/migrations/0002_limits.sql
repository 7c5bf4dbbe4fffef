-- Limits of accounts and keys as JSON text; null means none. What an account declared by tollgate.yaml has follows the file.
ALTER TABLE account ADD COLUMN limits TEXT;
ALTER TABLE api_key ADD COLUMN limits TEXT;

-- What requests came to, by the hour in which they held their money. Written in the transaction that resolves a hold,
-- so that sums over time never scan the requests.
CREATE TABLE usage_hour (
  account_id    TEXT NOT NULL,
  hour          INTEGER NOT NULL, -- Unix hours
  key_id        TEXT NOT NULL,
  model         TEXT NOT NULL,
  endpoint      TEXT NOT NULL,
  requests      INTEGER NOT NULL,
  failed        INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  charged       INTEGER NOT NULL,
  upstream_cost INTEGER NOT NULL,
  PRIMARY KEY (account_id, hour, key_id, model, endpoint)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_hour
SELECT account_id, created_at / 3600000, key_id, model, endpoint, count(*), sum(outcome = 'failed'),
       sum(input_fresh + input_cached + cache_write_5m + cache_write_1h), sum(output_text + output_reasoning),
       sum(charged), sum(upstream_cost)
FROM request_record GROUP BY 1, 2, 3, 4, 5;
