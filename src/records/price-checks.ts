/** The checks of what accounts with prices of their own were charged. They recompute it from usage and prices. */
import type { Check } from '../lib/primitives/checks.ts'

/** The units of a record that a price of a card is for. Pieces and tokens of images are in no such record. */
const units = `CAST(CASE p.unit WHEN 'inputFresh' THEN r.input_fresh WHEN 'inputCached' THEN r.input_cached
  WHEN 'cacheWrite5m' THEN r.cache_write_5m WHEN 'cacheWrite1h' THEN r.cache_write_1h
  WHEN 'outputText' THEN r.output_text WHEN 'outputReasoning' THEN r.output_reasoning ELSE 0 END AS numeric)`

/** A price at the factor of a record, rounded up. The two parts keep the product within 64 bits. */
const scaled = `(CASE WHEN r.price_factor IS NULL THEN p.nano_per_million
  ELSE p.nano_per_million / 1000000 * r.price_factor
    + (p.nano_per_million % 1000000 * r.price_factor + 999999) / 1000000 END)`

const above = 'CAST(substr(t.tier, 7) AS bigint)'
const inputTokens = 'q.input_fresh + q.input_cached + q.cache_write_5m + q.cache_write_1h'
const ownCards = "SELECT id FROM price_card WHERE subject = 'account'"

/** Above a thousand dollars the sum might exceed 64 bits. */
const CHARGE_MAX = '1000000000000'

export const priceChecks: readonly Check[] = [
  {
    code: 'account_price',
    invariant: 'a charge at an account’s price is its usage at the prices of its card and its factor',
    found: 'charged {charged}, price {price}',
    sql: `SELECT priced.id AS subject, priced.charged, CAST(priced.price AS text) AS price FROM (
        SELECT r.id, r.charged + r.written_off AS charged,
          (SELECT (CAST(coalesce(sum(${units} * ${scaled}), 0) AS bigint) + 999999) / 1000000
           FROM price p WHERE p.card_id = r.price_card_id AND p.tier = r.tier) AS price
        FROM (
          SELECT q.*, coalesce((SELECT t.tier FROM price t WHERE t.card_id = q.price_card_id AND t.tier LIKE 'above:%'
              AND ${inputTokens} > ${above} ORDER BY ${above} DESC LIMIT 1), 'standard') AS tier
          FROM request_record q WHERE q.usage_source IS NOT NULL AND q.pieces IS NULL
            AND q.input_image = 0 AND q.output_image = 0
            AND q.charged + q.written_off < ${CHARGE_MAX}
            AND (q.price_factor IS NOT NULL OR q.price_card_id IN (${ownCards}))) AS r
      ) AS priced WHERE priced.charged <> priced.price`,
  },
  {
    // SQLite keeps the order of a cross join. It would otherwise scan all records for each card of an account.
    code: 'price_owner',
    invariant: 'a card of one account is charged to that account alone',
    found: 'the card of {owner}',
    sql: `SELECT r.id AS subject, c.subject_id AS owner
          FROM request_record r CROSS JOIN price_card c WHERE c.id = r.price_card_id AND c.subject = 'account'
            AND substr(c.subject_id, 1, length(r.account_id) + 1) <> r.account_id || '/'`,
  },
]
