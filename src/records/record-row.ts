/** A request record as a row: its columns, its values, and the row as it is read. SQL stores share this. */
import type { Row, SqlValue } from '../store/statement.ts'
import type { AttemptNote, RequestRecord, StoredRecord } from './records.ts'

/** The columns of every record. */
export const commonColumns = [
  'account_id, id, key_id, endpoint, model, stream, status, outcome, offer_id, provider_id, upstream_model',
  'input_fresh, input_cached, output_text, output_reasoning, usage_source, price_card_id, cost_card_id',
  'held, charged, written_off, upstream_cost, attempts, created_at, first_event_ms, total_ms',
].join(', ')
/** All columns: the common ones, then the rare ones. */
export const recordColumns = `${commonColumns}, error_code, cache_write_5m, cache_write_1h, input_image, output_image, pieces, output_cap, output_cap_reason, price_factor`

export const valuesOf = (record: RequestRecord): SqlValue[] => [...commonValues(record), ...rareValues(record)]

/** The values of `commonColumns`. */
export function commonValues(record: RequestRecord): SqlValue[] {
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

function rareValues({ errorCode, usage, outputCap, priceFactor }: RequestRecord): SqlValue[] {
  const { cacheWrite5m, cacheWrite1h, inputImage = 0, outputImage = 0, pieces } = usage
  const written = pieces ? JSON.stringify(pieces) : null
  const cap = [outputCap?.tokens ?? null, outputCap?.reason ?? null]
  return [errorCode ?? null, cacheWrite5m, cacheWrite1h, inputImage, outputImage, written, ...cap, priceFactor ?? null]
}

/** Whether all rare columns are empty: a record of text alone without a fault, at the model's price. Most are. */
export function isCommon({ errorCode, usage, outputCap, priceFactor }: RequestRecord): boolean {
  const { cacheWrite5m, cacheWrite1h, inputImage, outputImage, pieces } = usage
  if (errorCode !== undefined || outputCap || pieces || priceFactor !== undefined) return false
  return !(cacheWrite5m || cacheWrite1h || inputImage || outputImage)
}

type Names = 'offerId' | 'providerId' | 'upstreamModel'
/** A note without the names. */
type BriefNote = { readonly [Field in Exclude<keyof AttemptNote, Names>]-?: AttemptNote[Field] | undefined }

function attemptsText(record: RequestRecord): string {
  const { attempts } = record
  const [only] = attempts
  // Nearly every record has one attempt with three plain values. Building the text here is four times as fast.
  if (attempts.length === 1 && only?.result === 'ok' && isNamedIn(record, only)) {
    // An id needs no escapes (see `requestIdIn`).
    const id = only.requestId === undefined ? '' : `,"requestId":"${only.requestId}"`
    const key = only.keyId === undefined ? '' : `,"keyId":"${only.keyId}"`
    return `[{"result":"ok"${id}${key},"startedMs":${only.startedMs},"tookMs":${only.tookMs}}]`
  }
  return JSON.stringify(attempts.map((note) => (isNamedIn(record, note) ? briefly(note) : note)))
}

const isNamedIn = ({ offerId, providerId, upstreamModel }: RequestRecord, note: AttemptNote): boolean =>
  note.offerId === offerId && note.providerId === providerId && note.upstreamModel === upstreamModel

/** A note of the offer that served, without the names that are in its record. The row becomes a third smaller. */
const briefly = (note: AttemptNote): BriefNote => {
  const { modelId, result, status, code, type, message, requestId, keyId, startedMs, tookMs } = note
  return { modelId, result, status, code, type, message, requestId, keyId, startedMs, tookMs }
}

/** The record of a row. The names that `briefly` left out are restored in its attempts. */
export function storedRecord(row: Row): StoredRecord {
  const { offer_id: offerId, provider_id: providerId, upstream_model: upstreamModel } = row
  const notes = JSON.parse(row['attempts'] as string) as Partial<AttemptNote>[]
  const attempts = JSON.stringify(notes.map((note) => ({ offerId, providerId, upstreamModel, ...note })))
  return { ...row, attempts }
}

const textIn = (value: SqlValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)
const numberIn = (value: SqlValue | undefined): number | undefined =>
  value === null || value === undefined ? undefined : Number(value)

/** The record of a row. Its durations are whole milliseconds. */
export function recordOf(row: Row): RequestRecord {
  const count = (column: string): number => Number(row[column])
  const name = (column: string): string => row[column] as string
  const money = (column: string): bigint => row[column] as bigint
  const [capTokens, capReason] = [numberIn(row['output_cap']), textIn(row['output_cap_reason'])]
  const pieces = textIn(row['pieces'])
  return {
    accountId: name('account_id'),
    id: name('id'),
    keyId: name('key_id'),
    endpoint: name('endpoint'),
    model: name('model'),
    stream: count('stream') === 1,
    status: count('status'),
    outcome: name('outcome') as RequestRecord['outcome'],
    errorCode: textIn(row['error_code']),
    offerId: textIn(row['offer_id']),
    providerId: textIn(row['provider_id']),
    upstreamModel: textIn(row['upstream_model']),
    usage: {
      inputFresh: count('input_fresh'),
      inputCached: count('input_cached'),
      cacheWrite5m: count('cache_write_5m'),
      cacheWrite1h: count('cache_write_1h'),
      outputText: count('output_text'),
      outputReasoning: count('output_reasoning'),
      inputImage: count('input_image'),
      outputImage: count('output_image'),
      ...(pieces === undefined ? {} : { pieces: JSON.parse(pieces) as NonNullable<RequestRecord['usage']['pieces']> }),
    },
    usageSource: textIn(row['usage_source']) as RequestRecord['usageSource'],
    priceCardId: count('price_card_id'),
    priceFactor: (row['price_factor'] ?? undefined) as bigint | undefined,
    costCardId: numberIn(row['cost_card_id']),
    held: money('held'),
    charged: money('charged'),
    writtenOff: money('written_off'),
    upstreamCost: money('upstream_cost'),
    attempts: JSON.parse(storedRecord(row).attempts) as AttemptNote[],
    outputCap: capTokens === undefined ? undefined : { tokens: capTokens, reason: capReason ?? '' },
    createdAtMs: count('created_at'),
    firstEventMs: numberIn(row['first_event_ms']),
    totalMs: count('total_ms'),
  }
}

const columnNames = recordColumns.split(', ')

/** A record in the form that the store would return, for callers that cannot wait for the store. */
export function storedForm(record: RequestRecord): StoredRecord {
  const values = valuesOf(record)
  return storedRecord(Object.fromEntries(columnNames.map((name, i) => [name, values[i] ?? null])))
}
