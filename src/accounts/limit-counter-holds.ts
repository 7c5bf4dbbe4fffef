/** Limit counters and the open holds that they count: the holds of a dead instance, and the check that both agree. */
import type { Check } from '../lib/primitives/checks.ts'
import { statement, type WriteStep } from '../store/statement.ts'

/** The month of a day, as in `Calendar`. */
export const monthOf = (
  day: string,
): string => `(SELECT extract(year FROM d)::bigint * 12 + extract(month FROM d)::bigint - 1
  FROM (SELECT date '1970-01-01' + ${day}::int AS d) AS of_day)`

/** One row for each counter of each open hold. */
const COUNTED = `SELECT unnest(string_to_array(meters, ' ')) AS id, owner, meter_day, tokens, amount - excess AS amount
  FROM hold WHERE state = 'open'`

const lockCounters = statement(
  `SELECT 1 FROM meter WHERE id IN (SELECT id FROM (${COUNTED} AND owner = ?1) AS counted)
   ORDER BY id FOR NO KEY UPDATE`,
)
const returnToCounters = statement(
  `UPDATE meter SET in_flight = in_flight - counted.holds, tok = tok + counted.tokens,
     day_held = day_held - counted.of_day, month_held = month_held - counted.of_month
   FROM (SELECT meter.id, count(*) AS holds, coalesce(sum(each.tokens), 0)::bigint AS tokens,
       coalesce(sum(each.amount) FILTER (WHERE each.meter_day = meter.day), 0)::bigint AS of_day,
       coalesce(sum(each.amount) FILTER (WHERE ${monthOf('each.meter_day')} = meter.month), 0)::bigint AS of_month
     FROM (${COUNTED} AND owner = ?1) AS each JOIN meter ON meter.id = each.id GROUP BY meter.id) AS counted
   WHERE meter.id = counted.id`,
)

/**
 * Steps that give back what the open holds of a dead instance have taken of limits, for the transaction in which they
 * expire. They must come before the step that resolves the holds, and after the accounts are locked.
 */
export const counterExpirySteps = (instance: string): readonly WriteStep[] =>
  [lockCounters, returnToCounters].map((run) => ({ run, bind: [instance] }))

/** Only for a store that several instances share. */
export const counterCheck: Check = {
  code: 'meter',
  invariant: 'the limits of a key or an account count its open holds',
  found: 'in flight {in_flight}, holds {holds}; held {held}, holds {amount}',
  sql: `SELECT meter.id AS subject, in_flight, count(counted.id) FILTER (WHERE owner <> 'task') AS holds,
      day_held AS held, coalesce(sum(amount) FILTER (WHERE meter_day = day), 0)::bigint AS amount
    FROM meter LEFT JOIN (${COUNTED}) AS counted ON counted.id = meter.id GROUP BY meter.id
    HAVING in_flight <> count(counted.id) FILTER (WHERE owner <> 'task')
      OR day_held <> coalesce(sum(amount) FILTER (WHERE meter_day = day), 0)`,
}
