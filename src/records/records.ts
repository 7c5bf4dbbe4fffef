/**
 * Request records: what a request cost and went through, and their sums by the hour. Written in the transaction that
 * resolves its hold.
 */
import type { NanoUsd } from '../domain/money.ts'
import { inputTokens, outputTokens, type Usage, type UsageSource } from '../domain/usage.ts'
import { statement, type Row, type Step } from '../store/statement.ts'
import type { Queryable, Store } from '../store/store.ts'

/** One try of an offer, as the record keeps it. */
export type AttemptNote = {
  readonly offerId: string
  readonly providerId: string
  readonly upstreamModel: string
  /** `ok`, or the kind of failure. */
  readonly result: string
  readonly status?: number
  readonly code?: string
  readonly message?: string
  /** From the start of the request, in ms. */
  readonly startedMs: number
  readonly tookMs: number
}

/**
 * How a request ended: `completed`; `failed` before any output, free of charge; `cut` by the upstream or a limit in the
 * middle; `client_closed` when the client hung up; `barred` when its key or account lost its right meanwhile.
 */
export type Outcome = 'completed' | 'failed' | 'cut' | 'client_closed' | 'barred'

export type RequestRecord = {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly endpoint: string
  readonly model: string
  readonly stream: boolean
  readonly status: number
  readonly outcome: Outcome
  readonly errorCode: string | undefined
  readonly offerId: string | undefined
  readonly providerId: string | undefined
  readonly upstreamModel: string | undefined
  readonly usage: Usage
  readonly usageSource: UsageSource
  readonly priceCardId: number
  readonly costCardId: number | undefined
  readonly held: NanoUsd
  readonly charged: NanoUsd
  /** What the balance lacked for the full price. */
  readonly writtenOff: NanoUsd
  readonly upstreamCost: NanoUsd
  readonly attempts: readonly AttemptNote[]
  /** When its money was held. */
  readonly createdAtMs: number
  readonly firstEventMs: number | undefined
  readonly totalMs: number
}

const columns = [
  'account_id, id, key_id, endpoint, model, stream, status, outcome, error_code, offer_id, provider_id, upstream_model',
  'input_fresh, input_cached, cache_write_5m, cache_write_1h, output_text, output_reasoning, usage_source',
  'price_card_id, cost_card_id, held, charged, written_off, upstream_cost, attempts, created_at, first_event_ms, total_ms',
  'input_image, output_image, pieces',
].join(', ')
const insertRecord = statement(`INSERT INTO request_record (${columns}) VALUES (${columns.replace(/\w+/g, '?')})`)

const addToHour = statement(`INSERT INTO usage_hour VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + 1, failed = failed + excluded.failed,
    input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
    charged = charged + excluded.charged, upstream_cost = upstream_cost + excluded.upstream_cost`)

const HOUR_MS = 3_600_000

/** The steps that write a record, to go along with a settlement or a release. */
export const recordSteps = (record: RequestRecord): Step[] => [recordStep(record), hourStep(record)]

function hourStep({ accountId, keyId, model, endpoint, outcome, usage, ...record }: RequestRecord): Step {
  const bind = [
    accountId,
    Math.floor(record.createdAtMs / HOUR_MS),
    keyId,
    model,
    endpoint,
    outcome === 'failed' ? 1 : 0,
    inputTokens(usage),
    outputTokens(usage),
    record.charged,
    record.upstreamCost,
  ]
  return { run: addToHour, bind, changes: 1 }
}

function recordStep(record: RequestRecord): Step {
  const { usage } = record
  const bind = [
    record.accountId,
    record.id,
    record.keyId,
    record.endpoint,
    record.model,
    record.stream ? 1 : 0,
    record.status,
    record.outcome,
    record.errorCode ?? null,
    record.offerId ?? null,
    record.providerId ?? null,
    record.upstreamModel ?? null,
    usage.inputFresh,
    usage.inputCached,
    usage.cacheWrite5m,
    usage.cacheWrite1h,
    usage.outputText,
    usage.outputReasoning,
    record.usageSource,
    record.priceCardId,
    record.costCardId ?? null,
    record.held,
    record.charged,
    record.writtenOff,
    record.upstreamCost,
    JSON.stringify(record.attempts),
    record.createdAtMs,
    record.firstEventMs === undefined ? null : Math.round(record.firstEventMs),
    Math.round(record.totalMs),
    usage.inputImage ?? 0,
    usage.outputImage ?? 0,
    usage.pieces ? JSON.stringify(usage.pieces) : null,
  ]
  return { run: insertRecord, bind }
}

/** A record as the store has it, columns as named in the schema, attempts parsed. */
export type StoredRecord = Row & { readonly attempts: string }

/** Hours whose sums are not those of their requests: `subject` is account and hour. Empty means the numbers add up. */
export async function verifyUsage(store: Queryable): Promise<readonly { subject: string; detail: string }[]> {
  const sql = `SELECT account_id || ' ' || hour AS subject, 'hour ' || sum(hours) || ', requests ' || sum(records) AS detail
    FROM (SELECT account_id, hour, charged AS hours, 0 AS records FROM usage_hour
          UNION ALL SELECT account_id, created_at / ${HOUR_MS}, 0, charged FROM request_record)
    GROUP BY account_id, hour HAVING sum(hours) <> sum(records)`
  return (await store.query(sql)).map((row) => ({ subject: String(row['subject']), detail: String(row['detail']) }))
}

/** What each key was charged by the day (Unix days), from an hour (Unix hours) on. */
export async function chargedByDay(
  store: Store,
  fromHour: number,
): Promise<readonly { accountId: string; keyId: string; day: number; charged: NanoUsd }[]> {
  // By account first: the hours of one lie together.
  const sql = `SELECT u.account_id, u.key_id, u.hour / 24 AS day, sum(u.charged) AS charged
    FROM account a JOIN usage_hour u ON u.account_id = a.id AND u.hour >= ? GROUP BY 1, 2, 3`
  return (await store.query(sql, [fromHour])).map((row) => ({
    accountId: String(row['account_id']),
    keyId: String(row['key_id']),
    day: Number(row['day']),
    charged: row['charged'] as bigint,
  }))
}

/** One request of an account; undefined when it is not the account's, or not there. */
export async function findRecord(store: Store, accountId: string, id: string): Promise<StoredRecord | undefined> {
  const [row] = await store.query('SELECT * FROM request_record WHERE account_id = ? AND id = ?', [accountId, id])
  return row as StoredRecord | undefined
}

/** The newest requests of an account, newest first. */
export async function recentRecords(store: Store, accountId: string, limit: number): Promise<readonly StoredRecord[]> {
  const sql = 'SELECT * FROM request_record WHERE account_id = ? ORDER BY id DESC LIMIT ?'
  return (await store.query(sql, [accountId, limit])) as readonly StoredRecord[]
}
