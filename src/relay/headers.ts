/** The headers of answers and failures: the agreed terms, and the cost. */
import type { Offer } from '../domain/catalog.ts'
import { formatUsd } from '../domain/money.ts'
import type { RoutingHints } from '../domain/routing-hints.ts'
import type { RequestRecord, SettledRecord } from '../records/records.ts'
import type { Admission } from './admit.ts'
import type { GatewayRequest } from './call.ts'

/** What serves the request, as far as it is decided. */
type Serving = { readonly dropped: readonly string[]; readonly offer?: ServedBy | undefined }
type ServedBy = Pick<Offer, 'modelId' | 'providerId'>

/** Headers that are known before the answer. For a growing hold they state its first step. */
export function earlyHeaders(
  call: GatewayRequest,
  { hold }: Admission,
  { dropped, offer }: Serving,
): Record<string, string> {
  const headers = withAgreed({ 'x-tollgate-held-usd': formatUsd(hold.amount) }, call, dropped)
  return call.hints === undefined ? headers : withRoute(headers, call.hints, offer)
}

/**
 * Adds which model served a request with hints, and which provider, if the request has named that one. The names of
 * other providers are the operator's business.
 */
function withRoute(
  headers: Record<string, string>,
  { provider: { order, only } }: RoutingHints,
  offer: ServedBy | undefined,
): Record<string, string> {
  if (!offer) return headers
  headers['x-tollgate-model'] = asToken(offer.modelId)
  const name = offer.providerId.toLowerCase()
  if (order.includes(name) || only?.includes(name)) headers['x-tollgate-provider'] = asToken(offer.providerId)
  return headers
}

const asToken = (id: string): string => id.replace(/[^!-~]/g, '_')

/** Adds the headers about terms that differ from the request. */
function withAgreed(
  headers: Record<string, string>,
  { life: { outputCap }, cacheUse }: GatewayRequest,
  dropped: readonly string[],
): Record<string, string> {
  if (cacheUse) headers['x-tollgate-cache'] = cacheUse.kind
  if (outputCap) headers['x-tollgate-max-output-tokens'] = String(outputCap.tokens)
  if (dropped.length > 0) headers['x-tollgate-dropped'] = namesOf(dropped)
  return headers
}

/** Field names are the client's own and can be any text, so the header is bounded and has few characters. */
const DROPPED_NAMES_MAX = 50
const DROPPED_NAME_CHARS_MAX = 64

function namesOf(dropped: readonly string[]): string {
  const named = dropped.slice(0, DROPPED_NAMES_MAX).map((name) => name.replace(/[^\w.:>[\]-]/g, '_'))
  if (dropped.length > named.length) named.push('...')
  return named.map((name) => name.slice(0, DROPPED_NAME_CHARS_MAX)).join(', ')
}

/** The headers of a whole answer, which are known after the settlement. The headers of a stream leave before it. */
export function wholeHeaders(
  record: SettledRecord,
  call: GatewayRequest,
  { contentType, dropped }: { readonly contentType: string; readonly dropped: readonly string[] },
): Record<string, string> {
  const headers = {
    'content-type': contentType,
    'x-tollgate-held-usd': formatUsd(record.held),
    'x-tollgate-cost-usd': formatUsd(record.charged),
    'x-tollgate-usage': record.usageSource,
    'x-tollgate-attempts': String(record.attempts.length),
    'x-tollgate-upstream-ms': String(upstreamMsOf(record.attempts)),
    'openai-processing-ms': String(Math.round(record.totalMs)),
  }
  withAgreed(headers, call, dropped)
  const { model: modelId, providerId = '' } = record
  return call.hints === undefined ? headers : withRoute(headers, call.hints, { modelId, providerId })
}

/** The headers of a failure: the number of attempts, and the cost if there was one. */
export function failureHeaders({
  attempts,
  held,
  charged,
  usageSource,
}: Pick<RequestRecord, 'attempts' | 'held' | 'charged' | 'usageSource'>): Record<string, string> {
  const headers: Record<string, string> = {}
  const sent = attempts.filter(({ result }) => result !== 'full').length
  if (sent === 0) return headers
  headers['x-tollgate-attempts'] = String(sent)
  headers['x-tollgate-upstream-ms'] = String(upstreamMsOf(attempts))
  // Without a source no usage was charged.
  if (usageSource === undefined) return headers
  headers['x-tollgate-held-usd'] = formatUsd(held)
  headers['x-tollgate-cost-usd'] = formatUsd(charged)
  headers['x-tollgate-usage'] = usageSource
  return headers
}

function upstreamMsOf(attempts: RequestRecord['attempts']): number {
  let sumMs = 0
  for (const { tookMs } of attempts) sumMs += tookMs
  return sumMs
}
