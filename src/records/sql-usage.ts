/**
 * The usage of requests by the hour in which their money was held. The sums are written in the transaction that
 * resolves a hold, so charts and limits never scan requests.
 */
import type { NanoUsd } from '../domain/money.ts'
import type { Usage, UsageSource } from '../domain/usage.ts'
import type { Check } from '../lib/primitives/checks.ts'
import { eachDatabase, type SqlDatabase } from '../store/sql.ts'
import { addingStatement, type SqlValue, type Statement, type WriteStep } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'
import { firstEventBoundsMs, usageSums, type KeyCharges, type UsageSum } from './usage-rollups.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

export const firstEventColumns = [...firstEventBoundsMs, Infinity].map((_, i) => `first_${i}`)

/** The columns that name a row. */
const rowKeys = ['account_id', 'hour', 'key_id', 'model', 'endpoint']

/** `values` are those of the keys and of all columns that are added to. */
function addingText(keys: readonly string[], values: readonly string[]): string {
  const columns = [...usageSums, ...firstEventColumns]
  return `INSERT INTO usage_hour (${[...keys, ...columns].join(', ')}) VALUES (${values.join(', ')})
     ON CONFLICT (${keys.join(', ')}) DO UPDATE SET
       ${columns.map((sum) => `${sum} = usage_hour.${sum} + excluded.${sum}`).join(', ')}`
}

/**
 * The first values name the row. The next one is the bucket of the first event, with which each count of first events
 * compares itself. The writer thread so gets fewer values.
 */
function addingToHour(): Statement {
  const keys = rowKeys.map((_, i) => `?${i + 1}`)
  const sums = usageSums.map((_, i) => `?${keys.length + 2 + i}`)
  const requests = sums[usageSums.indexOf('requests')] as string
  const firsts = firstEventColumns.map((_, i) => `CASE WHEN ?${keys.length + 1} = ${i} THEN ${requests} ELSE 0 END`)
  return addingStatement(addingText(rowKeys, [...keys, ...sums, ...firsts]), keys.length + 1)
}

/** Each count of first events is a value, so that all additions of a batch to a row are one query. */
function addingToShard(): Statement {
  const keys = [...rowKeys, 'shard']
  const values = [...keys, ...usageSums, ...firstEventColumns].map((_, i) => `?${i + 1}`)
  return addingStatement(addingText(keys, values), keys.length)
}

const addToHour = addingToHour()
/** Each instance on PostgreSQL has a shard, so that no two of them wait for one row. */
const addToShard = addingToShard()

/** The parts of a request record that are counted. */
type CountedRequest = {
  readonly accountId: string
  readonly keyId: string
  readonly model: string
  readonly endpoint: string
  readonly outcome: string
  readonly usage: Usage
  readonly usageSource: UsageSource | undefined
  readonly charged: NanoUsd
  readonly writtenOff: NanoUsd
  readonly upstreamCost: NanoUsd
  readonly createdAtMs: number
  readonly firstEventMs: number | undefined
}

/** The step that adds a request to its hour. Only a table that instances share has shards. */
export function hourStep(record: CountedRequest, shard: string | undefined): WriteStep {
  const row = [record.accountId, Math.floor(record.createdAtMs / HOUR_MS), record.keyId, record.model, record.endpoint]
  const bucket = record.firstEventMs === undefined ? -1 : placeOf(Math.round(record.firstEventMs))
  if (shard === undefined) return { run: addToHour, bind: [...row, bucket, ...addedBy(record)], changes: 1 }
  const firsts = firstEventColumns.map((_, i) => Number(i === bucket))
  return { run: addToShard, bind: [...row, shard, ...addedBy(record), ...firsts], changes: 1 }
}

function addedBy(record: CountedRequest): SqlValue[] {
  const { usage, outcome } = record
  return [
    1,
    outcome === 'failed' ? 1 : 0,
    outcome === 'cut' ? 1 : 0,
    record.usageSource === 'estimated' ? 1 : 0,
    usage.inputFresh,
    usage.inputCached,
    usage.cacheWrite5m + usage.cacheWrite1h,
    usage.outputText,
    usage.outputReasoning,
    usage.inputImage ?? 0,
    usage.outputImage ?? 0,
    countOf(usage, 'piece:image'),
    countOf(usage, 'piece:second'),
    record.charged,
    record.writtenOff,
    record.upstreamCost,
  ]
}

function countOf({ pieces }: Usage, kind: string): number {
  if (!pieces) return 0
  return pieces.reduce((sum, { unit, count }) => (unit.startsWith(kind) ? sum + count : sum), 0)
}

function placeOf(ms: number): number {
  let place = 0
  while (place < firstEventBoundsMs.length && ms >= (firstEventBoundsMs[place] as number)) place++
  return place
}

/** The SQL of what a request adds to each sum. */
const inRecords = (database: SqlDatabase): Readonly<Record<UsageSum, string>> => ({
  requests: '1',
  failed: countIf("outcome = 'failed'"),
  cut: countIf("outcome = 'cut'"),
  estimated: countIf("usage_source = 'estimated'"),
  input_fresh: 'input_fresh',
  input_cached: 'input_cached',
  cache_write: 'cache_write_5m + cache_write_1h',
  output_text: 'output_text',
  output_reasoning: 'output_reasoning',
  input_image: 'input_image',
  output_image: 'output_image',
  images: piecesOf('image', database),
  seconds: piecesOf('second', database),
  charged: 'charged',
  written_off: 'written_off',
  upstream_cost: 'upstream_cost',
})

const countIf = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END`

function piecesOf(kind: string, database: SqlDatabase): string {
  const pieces = database === 'sqlite' ? 'json_each(pieces)' : 'jsonb_array_elements(CAST(pieces AS jsonb)) AS value'
  const sum = `SELECT sum(CAST(value ->> 'count' AS bigint)) FROM ${pieces} WHERE value ->> 'unit' LIKE 'piece:${kind}%'`
  return `CASE WHEN pieces IS NULL THEN 0 ELSE coalesce((${sum}), 0) END`
}

const asRecorded = (database: SqlDatabase): string => {
  const sums = inRecords(database)
  return usageSums.map((sum) => `-(${sums[sum]})`).join(', ')
}
const excess = usageSums
  .map((sum) => `CASE WHEN sum(${sum}) <> 0 THEN ' ${sum} ' || sum(${sum}) ELSE '' END`)
  .join(' || ')
const summed = [...usageSums, ...firstEventColumns]
const negated = summed.map((sum) => `-${sum}`).join(', ')
const someOf = (sums: readonly string[]): string => sums.map((sum) => `sum(${sum}) <> 0`).join(' OR ')
const ADDS_UP = 'the usage of an hour is the sum of its requests, and that of an account is what the ledger charged'

/** Checks that sums agree: hours with requests, accounts with their charges in the ledger, days with their hours. */
export const usageChecks: readonly Check[] = [
  {
    code: 'usage_hour',
    invariant: ADDS_UP,
    found: 'more than its requests:{excess}',
    sql: eachDatabase(
      (database) => `SELECT account_id || ' ' || hour AS subject, ${excess} AS excess
      FROM (SELECT account_id, hour, key_id, model, endpoint, ${usageSums.join(', ')} FROM usage_hour
            UNION ALL SELECT account_id, created_at / ${HOUR_MS}, key_id, model, endpoint, ${asRecorded(database)}
            FROM request_record) AS both_sides
      GROUP BY account_id, hour, key_id, model, endpoint HAVING ${someOf(usageSums)}`,
    ),
  },
  {
    code: 'usage_ledger',
    invariant: ADDS_UP,
    found: 'usage {used}, ledger {charged}',
    sql: `SELECT account_id AS subject, CAST(sum(used) AS text) AS used, CAST(sum(charged) AS text) AS charged
      FROM (SELECT account_id, charged AS used, 0 AS charged FROM usage_hour
            UNION ALL SELECT account_id, 0, settled FROM hold WHERE state = 'settled') AS both_sides
      GROUP BY account_id HAVING sum(used) <> sum(charged)`,
  },
  {
    code: 'usage_day',
    invariant: ADDS_UP,
    found: 'not the sum of its hours',
    sql: `SELECT account_id || ' day ' || day AS subject
      FROM (SELECT account_id, day, ${summed.join(', ')} FROM usage_day
            WHERE day < (SELECT day FROM usage_days_until)
            UNION ALL SELECT account_id, hour / 24, ${negated} FROM usage_hour
            WHERE hour < (SELECT day FROM usage_days_until) * 24
            UNION ALL SELECT '', hour / 24, ${negated} FROM usage_hour
            WHERE hour < (SELECT day FROM usage_days_until) * 24) AS both_sides
      GROUP BY account_id, day HAVING ${someOf(summed)}`,
  },
]

/** See `UsageRollups`. */
export async function chargedByDay(store: Queryable, fromHour: number): Promise<readonly KeyCharges[]> {
  // The query goes account by account, because the hours of one account are adjacent.
  const sql = `SELECT u.account_id, u.key_id, u.hour / 24 AS day, CAST(sum(u.charged) AS bigint) AS charged
    FROM account a JOIN usage_hour u ON u.account_id = a.id AND u.hour >= ? GROUP BY 1, 2, 3`
  return (await store.query(sql, [fromHour])).map((row) => ({
    accountId: String(row['account_id']),
    keyId: String(row['key_id']),
    day: Number(row['day']),
    charged: row['charged'] as bigint,
  }))
}
