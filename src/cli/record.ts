import { formatUsd } from '../domain/money.ts'
import { formatFactor } from '../domain/price-factor.ts'

/** A record as `request.show` returns it: the store's columns, integers as decimal text, and the account's name. */
export type StoredRow = Readonly<Record<string, string | null>>

export type Attempt = {
  readonly provider: string
  /** The vendor's name of the model. */
  readonly model: string
  /** Our name of it, if the request named several models. */
  readonly public_model: string | null
  /** `ok`, or the kind of failure. */
  readonly result: string
  readonly status: number | null
  readonly code: string | null
  readonly type: string | null
  readonly message: string | null
  /** The vendor's id of the request. */
  readonly upstream_request_id: string | null
  /** The provider's key, if the provider has several. */
  readonly provider_key?: string
  readonly started_ms: number
  readonly took_ms: number
}

/** A request as `--json` prints it. The field names are a stable interface. */
export type RecordView = {
  readonly id: string
  readonly account: string
  readonly key_id: string
  readonly endpoint: string
  readonly model: string
  readonly stream: boolean
  readonly status: number
  readonly outcome: string
  readonly error_code: string | null
  readonly provider: string | null
  readonly upstream_model: string | null
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  /** Images and other things that are priced by the piece. */
  readonly pieces: readonly { readonly unit: string; readonly count: number }[]
  readonly usage_source: string | null
  readonly held_usd: string
  readonly charged_usd: string
  /** The part of the price that the balance did not cover. */
  readonly written_off_usd: string
  readonly upstream_cost_usd: string
  /** The id of the dated prices of the charge. `model list` shows the current prices. */
  readonly price_card: number
  /** The factor of the account by which those prices were charged. Null: they were charged as they are. */
  readonly price_factor: string | null
  /** `card`: the prices are the account's own. `factor`: those of the model at its factor. Null: not looked up. */
  readonly price_basis: 'model' | 'factor' | 'card' | null
  /** The output limit per choice that the client did not set, and the reason for it. */
  readonly output_cap: number | null
  readonly output_cap_reason: string | null
  readonly created_at: string
  readonly first_event_ms: number | null
  readonly total_ms: number
  readonly attempts: readonly Attempt[]
}

export function readRecord(row: StoredRow): RecordView {
  const word = (name: string): string => row[name] ?? ''
  const number = (name: string): number => Number(row[name] ?? 0)
  const dollars = (name: string): string => formatUsd(BigInt(row[name] ?? 0))
  const written = number('cache_write_5m') + number('cache_write_1h')
  return {
    id: word('id'),
    account: row['account'] ?? word('account_id'),
    key_id: word('key_id'),
    endpoint: word('endpoint'),
    model: word('model'),
    stream: number('stream') === 1,
    status: number('status'),
    outcome: word('outcome'),
    error_code: row['error_code'] ?? null,
    provider: row['provider_id'] ?? null,
    upstream_model: row['upstream_model'] ?? null,
    input_tokens: number('input_fresh') + number('input_cached') + written + number('input_image'),
    cached_input_tokens: number('input_cached'),
    cache_write_tokens: written,
    output_tokens: number('output_text') + number('output_reasoning') + number('output_image'),
    reasoning_tokens: number('output_reasoning'),
    pieces: JSON.parse(row['pieces'] ?? '[]') as RecordView['pieces'],
    usage_source: row['usage_source'] ?? null,
    held_usd: dollars('held'),
    charged_usd: dollars('charged'),
    written_off_usd: dollars('written_off'),
    upstream_cost_usd: dollars('upstream_cost'),
    price_card: number('price_card_id'),
    price_factor: row['price_factor'] ? formatFactor(BigInt(row['price_factor'])) : null,
    price_basis: row['price_factor'] ? 'factor' : ((row['price_basis'] ?? null) as RecordView['price_basis']),
    output_cap: row['output_cap'] ? number('output_cap') : null,
    output_cap_reason: row['output_cap_reason'] ?? null,
    created_at: new Date(number('created_at')).toISOString(),
    first_event_ms: row['first_event_ms'] === null ? null : number('first_event_ms'),
    total_ms: number('total_ms'),
    attempts: (JSON.parse(row['attempts'] ?? '[]') as StoredAttempt[]).map(readAttempt),
  }
}

type StoredAttempt = {
  readonly providerId: string
  readonly upstreamModel: string
  readonly modelId?: string
  readonly result: string
  readonly status?: number
  readonly code?: string
  readonly type?: string
  readonly message?: string
  readonly requestId?: string
  readonly keyId?: string
  readonly startedMs: number
  readonly tookMs: number
}

const readAttempt = (note: StoredAttempt): Attempt => ({
  provider: note.providerId,
  model: note.upstreamModel,
  public_model: note.modelId ?? null,
  result: note.result,
  status: note.status ?? null,
  code: note.code ?? null,
  type: note.type ?? null,
  message: note.message ?? null,
  upstream_request_id: note.requestId ?? null,
  ...(note.keyId === undefined ? {} : { provider_key: note.keyId }),
  started_ms: Math.round(note.startedMs),
  took_ms: Math.round(note.tookMs),
})
