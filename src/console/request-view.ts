/** Requests as the console shows them. Only operators see who served them and at what cost. */
import { z } from 'zod'
import { priceLines, type PriceLines } from '../domain/price-lines.ts'
import type { PriceCard } from '../domain/price.ts'
import { scaledCard } from '../domain/price-factor.ts'
import type { Usage } from '../domain/usage.ts'
import type { AttemptNote, StoredRecord } from '../records/records.ts'
import type { ConsoleContext } from './context.ts'
import { basisOf, basisShape } from './price-view.ts'
import { isoTime, nano, time } from './shapes.ts'

const count = z.int().min(0)

export const requestShape = z
  .strictObject({
    id: z.string(),
    created_at: time,
    endpoint: z.string(),
    model: z.string(),
    key: z.strictObject({ id: z.string(), name: z.string() }),
    stream: z.boolean(),
    status: z.int(),
    outcome: z.enum(['completed', 'failed', 'cut', 'client_closed', 'barred']),
    error_code: z.string().nullable(),
    input_tokens: count,
    cached_input_tokens: count.meta({ description: 'the part of the input that came from the vendor’s cache' }),
    output_tokens: count,
    images: count,
    usage_source: z.enum(['reported', 'estimated']).nullable(),
    charged_nano_usd: nano,
    held_nano_usd: nano,
    first_event_ms: count.nullable(),
    total_ms: count,
    attempts: count,
    provider: z.string().nullable().optional().meta({ description: 'operators only' }),
  })
  .meta({ id: 'RequestRow' })

const lineShape = z
  .strictObject({
    unit: z.string().meta({ description: 'a bucket of tokens, or a piece such as piece:image/1024x1024' }),
    count,
    nano_usd_per_million: nano,
    amount_nano_usd: z
      .string()
      .meta({ description: 'exact, with up to six decimals: the sum is rounded, not the lines' }),
  })
  .meta({ id: 'PriceLine' })
const linesShape = z
  .strictObject({
    lines: z.array(lineShape),
    rounding_nano_usd: z.string().meta({ description: 'the amount that the one rounding adds' }),
    total_nano_usd: nano,
    prices_from: time.meta({ description: 'the day of the price card' }),
  })
  .meta({ id: 'PriceLines' })
const attemptShape = z
  .strictObject({
    result: z.string().meta({
      description:
        'ok; aborted: the request ended; outrun: another was faster; full: no free permit; or the kind of failure',
    }),
    status: z.int().nullable(),
    code: z.string().nullable(),
    started_ms: count.meta({ description: 'from the start of the request' }),
    took_ms: count,
    model: z.string().optional().meta({ description: 'the model, if the request named several' }),
    provider: z.string().optional().meta({ description: 'for operators only, as are the next fields' }),
    upstream_model: z.string().optional(),
    type: z.string().nullable().optional().meta({ description: 'the vendor’s word for the kind of error' }),
    message: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'the vendor’s message, bounded and without words of the request, or the gateway’s own' }),
    upstream_request_id: z.string().nullable().optional().meta({ description: 'the vendor’s id of the request' }),
    provider_key: z.string().optional().meta({ description: 'the key of the provider, if it has several' }),
  })
  .meta({ id: 'Attempt' })
const phaseShape = z.strictObject({ phase: z.enum(['before', 'attempt', 'answer']), started_ms: count, took_ms: count })

export const requestDetailShape = requestShape
  .extend({
    attempts_made: z.array(attemptShape),
    phases: z
      .array(phaseShape)
      .meta({ description: 'before the first attempt, each attempt, and the answer after its first event' }),
    usage: z.record(z.string(), count),
    pieces: z.array(z.strictObject({ unit: z.string(), count })),
    output_cap: count.nullable().meta({ description: 'tokens of an output limit that the client did not set' }),
    output_cap_reason: z
      .enum(['operator', 'vendor', 'balance', 'model_maximum'])
      .nullable()
      .meta({ description: 'the reason: the operator, the vendor that demands one, the balance, or the model' }),
    price: linesShape.nullable().meta({ description: 'null: nothing was charged' }),
    price_basis: basisShape,
    price_factor: z.string().nullable().meta({ description: 'the factor of the account, by which it was charged' }),
    written_off_nano_usd: nano.meta({
      description: 'the part of the price that the balance did not cover, in nano-USD',
    }),
    released_nano_usd: nano.meta({ description: 'the part of the hold that was released, in nano-USD' }),
    upstream_cost: linesShape.nullable().optional().meta({ description: 'operators only' }),
  })
  .meta({ id: 'RequestDetail' })

/** The factor at which a card is itself. */
const NO_FACTOR = 1_000_000n

type Viewer = { readonly isOperator: boolean }

const numberIn = (record: StoredRecord, name: string): number => Number(record[name] ?? 0)
const textIn = (record: StoredRecord, name: string): string | null => (record[name] as string | null) ?? null
const amountIn = (record: StoredRecord, name: string): bigint => (record[name] as bigint | null) ?? 0n

function usageIn(record: StoredRecord): Usage {
  const pieces = textIn(record, 'pieces')
  return {
    inputFresh: numberIn(record, 'input_fresh'),
    inputCached: numberIn(record, 'input_cached'),
    cacheWrite5m: numberIn(record, 'cache_write_5m'),
    cacheWrite1h: numberIn(record, 'cache_write_1h'),
    outputText: numberIn(record, 'output_text'),
    outputReasoning: numberIn(record, 'output_reasoning'),
    inputImage: numberIn(record, 'input_image'),
    outputImage: numberIn(record, 'output_image'),
    ...(pieces === null ? {} : { pieces: JSON.parse(pieces) as NonNullable<Usage['pieces']> }),
  }
}

const attemptsIn = (record: StoredRecord): readonly AttemptNote[] => JSON.parse(record.attempts) as AttemptNote[]

export function requestView(
  { services }: ConsoleContext,
  record: StoredRecord,
  { isOperator }: Viewer,
): z.infer<typeof requestShape> {
  const usage = usageIn(record)
  const keyId = textIn(record, 'key_id') ?? ''
  const { inputImage = 0, outputImage = 0, pieces = [] } = usage
  return {
    id: textIn(record, 'id') ?? '',
    created_at: isoTime(numberIn(record, 'created_at')),
    endpoint: textIn(record, 'endpoint') ?? '',
    model: textIn(record, 'model') ?? '',
    key: { id: keyId, name: services.accounts.findKey(keyId)?.name ?? keyId },
    stream: numberIn(record, 'stream') === 1,
    status: numberIn(record, 'status'),
    outcome: textIn(record, 'outcome') as z.infer<typeof requestShape>['outcome'],
    error_code: textIn(record, 'error_code'),
    input_tokens: usage.inputFresh + usage.inputCached + usage.cacheWrite5m + usage.cacheWrite1h + inputImage,
    cached_input_tokens: usage.inputCached,
    output_tokens: usage.outputText + usage.outputReasoning + outputImage,
    images: pieces.reduce((sum, piece) => (piece.unit.startsWith('piece:image') ? sum + piece.count : sum), 0),
    usage_source: textIn(record, 'usage_source') as 'reported' | 'estimated' | null,
    charged_nano_usd: amountIn(record, 'charged').toString(),
    held_nano_usd: amountIn(record, 'held').toString(),
    first_event_ms: record['first_event_ms'] === null ? null : numberIn(record, 'first_event_ms'),
    total_ms: numberIn(record, 'total_ms'),
    attempts: attemptsIn(record).length,
    ...(isOperator ? { provider: textIn(record, 'provider_id') } : {}),
  }
}

const MILLION = 1_000_000n
/** Millionths as an exact decimal number. */
function decimal(millionths: bigint): string {
  const fraction = (millionths % MILLION).toString().padStart(6, '0').replace(/0+$/, '')
  return fraction === '' ? (millionths / MILLION).toString() : `${millionths / MILLION}.${fraction}`
}

const linesView = ({ lines, roundingMillionths, total }: PriceLines, card: PriceCard): z.infer<typeof linesShape> => ({
  lines: lines.map(({ unit, count: units, nanoPerMillion, amountMillionths }) => ({
    unit,
    count: units,
    nano_usd_per_million: nanoPerMillion.toString(),
    amount_nano_usd: decimal(amountMillionths),
  })),
  rounding_nano_usd: decimal(roundingMillionths),
  total_nano_usd: total.toString(),
  prices_from: isoTime(card.effectiveFromMs),
})

function phasesOf(attempts: readonly AttemptNote[], record: StoredRecord): z.infer<typeof phaseShape>[] {
  const total = numberIn(record, 'total_ms')
  // Of two attempts at once, the one that began first may be noted last.
  const begun = Math.round(Math.min(total, ...attempts.map(({ startedMs }) => startedMs)))
  const firstEvent = record['first_event_ms'] === null ? undefined : numberIn(record, 'first_event_ms')
  return [
    { phase: 'before', started_ms: 0, took_ms: begun },
    ...attempts.map(({ startedMs, tookMs }) => ({
      phase: 'attempt' as const,
      started_ms: Math.round(startedMs),
      took_ms: Math.round(tookMs),
    })),
    ...(firstEvent === undefined
      ? []
      : [{ phase: 'answer' as const, started_ms: firstEvent, took_ms: Math.max(0, total - firstEvent) }]),
  ]
}

const attemptView = (note: AttemptNote, { isOperator }: Viewer): z.infer<typeof attemptShape> => ({
  result: note.result,
  status: note.status ?? null,
  code: isOperator ? (note.code ?? null) : null,
  started_ms: Math.max(0, Math.round(note.startedMs)),
  took_ms: Math.max(0, Math.round(note.tookMs)),
  ...(note.modelId === undefined ? {} : { model: note.modelId }),
  ...(isOperator
    ? {
        provider: note.providerId,
        upstream_model: note.upstreamModel,
        type: note.type ?? null,
        message: note.message ?? null,
        upstream_request_id: note.requestId ?? null,
        ...(note.keyId === undefined ? {} : { provider_key: note.keyId }),
      }
    : {}),
})

/** All details of a request. */
export async function requestDetail(
  context: ConsoleContext,
  record: StoredRecord,
  viewer: Viewer,
): Promise<z.infer<typeof requestDetailShape>> {
  const usage = usageIn(record)
  const attempts = attemptsIn(record)
  const charged = amountIn(record, 'charged')
  const { pieces = [], ...tokens } = usage
  const linesOf = (card: PriceCard | undefined): z.infer<typeof linesShape> | null =>
    card ? linesView(priceLines(usage, card), card) : null
  const cardIn = async (column: string): Promise<PriceCard | undefined> =>
    record[column] === null ? undefined : context.services.catalog.card(numberIn(record, column))
  const base = await cardIn('price_card_id')
  const sale = base && scaledCard(base, (record['price_factor'] as bigint | null) ?? NO_FACTOR)
  const { basis, factor } = sale ? basisOf(sale) : { basis: 'model' as const, factor: null }
  const isCharged = charged > 0n || amountIn(record, 'written_off') > 0n
  const released = amountIn(record, 'held') - charged
  return {
    ...requestView(context, record, viewer),
    attempts_made: attempts.map((note) => attemptView(note, viewer)),
    phases: phasesOf(attempts, record),
    usage: tokens,
    output_cap: record['output_cap'] === null ? null : numberIn(record, 'output_cap'),
    output_cap_reason: textIn(record, 'output_cap_reason') as z.infer<typeof requestDetailShape>['output_cap_reason'],
    pieces: [...pieces],
    price: isCharged ? linesOf(sale) : null,
    price_basis: basis,
    price_factor: factor,
    written_off_nano_usd: amountIn(record, 'written_off').toString(),
    released_nano_usd: (released > 0n ? released : 0n).toString(),
    ...(viewer.isOperator ? { upstream_cost: linesOf(await cardIn('cost_card_id')) } : {}),
  }
}
