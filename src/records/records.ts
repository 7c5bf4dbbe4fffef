/**
 * Request records: what a request cost and went through. Written in the transaction that resolves its hold.
 */
import type { NanoUsd } from '../domain/money.ts'
import type { Usage, UsageSource } from '../domain/usage.ts'
import { rowStatement, type Row, type SqlValue, type WriteStep } from '../store/statement.ts'
import type { Queryable, Store } from '../store/store.ts'
import { hourStep } from './sqlite/usage.ts'

/** One try of an offer. */
export type AttemptNote = {
  readonly offerId: string
  readonly providerId: string
  readonly upstreamModel: string
  /**
   * `ok`; `aborted` where the call was ended before the vendor answered; `full` where it was not sent for want of room
   * there; or the kind of failure.
   */
  readonly result: string
  readonly status?: number
  readonly code?: string
  /** The vendor's word for the kind of error. */
  readonly type?: string
  /** Ours, or the vendor's without what is the request's. */
  readonly message?: string
  /** The vendor's id of the request. */
  readonly requestId?: string
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
  /** Undefined where the hold was released: no usage is charged, so none has a source. */
  readonly usageSource: UsageSource | undefined
  readonly priceCardId: number
  readonly costCardId: number | undefined
  readonly held: NanoUsd
  readonly charged: NanoUsd
  /** What the balance lacked for the full price. */
  readonly writtenOff: NanoUsd
  readonly upstreamCost: NanoUsd
  readonly attempts: readonly AttemptNote[]
  /** The output limit that its client did not set, per choice, and why there was one. */
  readonly outputCap?: { readonly tokens: number; readonly reason: string } | undefined
  /** When its money was held. */
  readonly createdAtMs: number
  readonly firstEventMs: number | undefined
  readonly totalMs: number
}

/** Of a request whose hold was settled. */
export type SettledRecord = RequestRecord & { readonly usageSource: UsageSource }

const common = [
  'account_id, id, key_id, endpoint, model, stream, status, outcome, offer_id, provider_id, upstream_model',
  'input_fresh, input_cached, output_text, output_reasoning, usage_source, price_card_id, cost_card_id',
  'held, charged, written_off, upstream_cost, attempts, created_at, first_event_ms, total_ms',
].join(', ')
const columns = `${common}, error_code, cache_write_5m, cache_write_1h, input_image, output_image, pieces, output_cap, output_cap_reason`
const insertRecord = rowStatement('request_record', columns)
/** Of text alone, and without a fault: most of them. */
const insertCommon = rowStatement('request_record', common, {
  cache_write_5m: '0',
  cache_write_1h: '0',
  input_image: '0',
  output_image: '0',
})

/** The steps that write a record, to go along with a settlement or a release. */
export const recordSteps = (record: RequestRecord): WriteStep[] => [recordStep(record), hourStep(record)]

const recordStep = (record: RequestRecord): WriteStep =>
  isCommon(record) ? { run: insertCommon, bind: commonValues(record) } : { run: insertRecord, bind: valuesOf(record) }

const valuesOf = (record: RequestRecord): SqlValue[] => [...commonValues(record), ...rareValues(record)]

function commonValues(record: RequestRecord): SqlValue[] {
  const { usage } = record
  return [
    record.accountId,
    record.id,
    record.keyId,
    record.endpoint,
    record.model,
    record.stream ? 1 : 0,
    record.status,
    record.outcome,
    record.offerId ?? null,
    record.providerId ?? null,
    record.upstreamModel ?? null,
    usage.inputFresh,
    usage.inputCached,
    usage.outputText,
    usage.outputReasoning,
    record.usageSource ?? null,
    record.priceCardId,
    record.costCardId ?? null,
    record.held,
    record.charged,
    record.writtenOff,
    record.upstreamCost,
    attemptsText(record),
    record.createdAtMs,
    record.firstEventMs === undefined ? null : Math.round(record.firstEventMs),
    Math.round(record.totalMs),
  ]
}

function rareValues({ errorCode, usage, outputCap }: RequestRecord): SqlValue[] {
  const { cacheWrite5m, cacheWrite1h, inputImage = 0, outputImage = 0, pieces } = usage
  const written = pieces ? JSON.stringify(pieces) : null
  const cap = [outputCap?.tokens ?? null, outputCap?.reason ?? null]
  return [errorCode ?? null, cacheWrite5m, cacheWrite1h, inputImage, outputImage, written, ...cap]
}

function isCommon({ errorCode, usage, outputCap }: RequestRecord): boolean {
  const { cacheWrite5m, cacheWrite1h, inputImage, outputImage, pieces } = usage
  return (
    errorCode === undefined && !outputCap && !pieces && !(cacheWrite5m || cacheWrite1h || inputImage || outputImage)
  )
}

type Names = 'offerId' | 'providerId' | 'upstreamModel'
/** All that a note says but the names. */
type BriefNote = { readonly [Field in Exclude<keyof AttemptNote, Names>]-?: AttemptNote[Field] | undefined }

function attemptsText(record: RequestRecord): string {
  const { attempts } = record
  const [only] = attempts
  // Nearly all of them: three plain values, written four times as fast as by rule.
  if (attempts.length === 1 && only?.result === 'ok' && isNamedIn(record, only)) {
    // An id needs no escapes: see `requestIdIn`.
    const id = only.requestId === undefined ? '' : `,"requestId":"${only.requestId}"`
    return `[{"result":"ok"${id},"startedMs":${only.startedMs},"tookMs":${only.tookMs}}]`
  }
  return JSON.stringify(attempts.map((note) => (isNamedIn(record, note) ? briefly(note) : note)))
}

const isNamedIn = ({ offerId, providerId, upstreamModel }: RequestRecord, note: AttemptNote): boolean =>
  note.offerId === offerId && note.providerId === providerId && note.upstreamModel === upstreamModel

/** An attempt at the offer that served goes without the names that its record has: a third of a row less to write. */
const briefly = (note: AttemptNote): BriefNote => {
  const { result, status, code, type, message, requestId, startedMs, tookMs } = note
  return { result, status, code, type, message, requestId, startedMs, tookMs }
}

/** A record as the schema names its columns, attempts as the JSON of `AttemptNote`s. */
export type StoredRecord = Row & { readonly attempts: string }

/** A row of the table as a record: its attempts have the names again that `briefly` left out. */
export function storedRecord(row: Row): StoredRecord {
  const { offer_id: offerId, provider_id: providerId, upstream_model: upstreamModel } = row
  const notes = JSON.parse(row['attempts'] as string) as Partial<AttemptNote>[]
  const attempts = JSON.stringify(notes.map((note) => ({ offerId, providerId, upstreamModel, ...note })))
  return { ...row, attempts }
}

const columnNames = columns.split(', ')

/** A record as the store would give it back, for those who cannot wait for that. */
export function storedForm(record: RequestRecord): StoredRecord {
  const values = valuesOf(record)
  return storedRecord(Object.fromEntries(columnNames.map((name, i) => [name, values[i] ?? null])))
}

/** One request of an account; undefined when it is not the account's, or not there. */
export async function findRecord(store: Store, accountId: string, id: string): Promise<StoredRecord | undefined> {
  const [row] = await store.query('SELECT * FROM request_record WHERE account_id = ? AND id = ?', [accountId, id])
  return row && storedRecord(row)
}

/** What was charged for requests of an account, by their ids; without those that are not there. */
export async function chargedFor(
  store: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NanoUsd>> {
  const sql = 'SELECT id, charged FROM request_record WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))'
  const rows = await store.query(sql, [accountId, JSON.stringify(ids)])
  return new Map(rows.map((row) => [row['id'] as string, row['charged'] as bigint]))
}

export type RecentPage = {
  readonly limit: number
  /** Only those older than this one. */
  readonly before?: string | undefined
}

/** The newest requests of an account, newest first. */
export async function recentRecords(
  store: Store,
  accountId: string,
  { limit, before }: RecentPage,
): Promise<readonly StoredRecord[]> {
  const older = before === undefined ? '' : 'AND id < ?'
  const sql = `SELECT * FROM request_record WHERE account_id = ? ${older} ORDER BY id DESC LIMIT ?`
  const bind = before === undefined ? [accountId, limit] : [accountId, before, limit]
  return (await store.query(sql, bind)).map(storedRecord)
}
