/** Builds all request records and attempt notes, for answers and for tasks. */
import type { Offer } from '../domain/catalog.ts'
import { keptOf } from '../vendors/redaction.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { PriceCard } from '../domain/price.ts'
import type { Usage, UsageSource } from '../domain/usage.ts'
import type { AttemptNote, RequestRecord } from './records.ts'

/** The facts about a request that are known when its money is held. */
export type RecordStart = {
  /** The hold of the request. A second charge has its own line beside it. */
  readonly hold: {
    readonly id: string
    readonly accountId: string
    readonly amount: NanoUsd
    readonly createdAtMs: number
  }
  readonly keyId: string
  readonly endpoint: string
  readonly model: string
  readonly stream: boolean
  /** What the account pays: the model's card, at the account's factor if it has one, or the account's own card. */
  readonly sale: PriceCard
}

/** How a request ended. */
export type RecordEnd<Source> = Pick<
  RequestRecord,
  'outcome' | 'status' | 'errorCode' | 'attempts' | 'outputCap' | 'firstEventMs' | 'totalMs'
> & {
  readonly usage: Usage
  readonly source: Source
  readonly offer: Offer | undefined
  /** The provider that did the work, if it was not the offer's. It has no model of its own. */
  readonly worker?: { readonly providerId: string | undefined } | undefined
}

export type RecordAmounts = Pick<RequestRecord, 'charged' | 'writtenOff' | 'upstreamCost'>

export function buildRecord<Source extends UsageSource | undefined>(
  { hold, keyId, endpoint, model, stream, sale }: RecordStart,
  end: RecordEnd<Source>,
  { charged, writtenOff, upstreamCost }: RecordAmounts,
): RequestRecord & { readonly usageSource: Source } {
  const { offer, worker } = end
  return {
    id: hold.id,
    accountId: hold.accountId,
    keyId,
    endpoint,
    model,
    stream,
    status: end.status,
    outcome: end.outcome,
    errorCode: end.errorCode,
    offerId: offer?.id,
    providerId: worker ? worker.providerId : offer?.providerId,
    upstreamModel: worker ? undefined : offer?.upstreamModel,
    usage: end.usage,
    usageSource: end.source,
    priceCardId: sale.id,
    priceFactor: sale.factor,
    costCardId: offer?.cost.id,
    held: hold.amount,
    charged,
    writtenOff,
    upstreamCost,
    attempts: end.attempts,
    outputCap: end.outputCap,
    createdAtMs: hold.createdAtMs,
    firstEventMs: end.firstEventMs,
    totalMs: end.totalMs,
  }
}

/** The result of an attempt. The message of a failure is kept as far as the rules allow. */
export type AttemptEnd =
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  /** `requestId` is the vendor's id of the request. */
  | { readonly kind: 'ok'; readonly requestId: string | undefined }
  | { readonly kind: 'full' | 'aborted' | 'outrun' }

type AttemptFacts = Pick<AttemptNote, 'startedMs' | 'tookMs'> & {
  readonly modelId?: string | undefined
  readonly keyId?: string | undefined
}

/**
 * Builds the note of an attempt. `startedMs` and `tookMs` are whole, counted from the start of the request. `modelId`:
 * set if the request named several models.
 */
export function buildAttemptNote(
  { id: offerId, providerId, upstreamModel }: Offer,
  end: AttemptEnd,
  { startedMs, tookMs, modelId, keyId }: AttemptFacts,
): AttemptNote {
  const result = end.kind === 'failed' ? end.failure.kind : end.kind
  const served = { offerId, providerId, upstreamModel, result, startedMs, tookMs }
  const named = modelId === undefined ? served : { ...served, modelId }
  const note = keyId === undefined ? named : { ...named, keyId }
  if (end.kind === 'failed') return { ...note, ...keptOf(end.failure) }
  return end.kind === 'ok' && end.requestId !== undefined ? { ...note, requestId: end.requestId } : note
}

/** The note of an attempt that served, but failed in the middle of its stream. */
export const brokenNote = (served: AttemptNote, failure: UpstreamFailure, tookMs: number): AttemptNote => ({
  ...served,
  result: failure.kind,
  tookMs,
  ...keptOf(failure),
})
