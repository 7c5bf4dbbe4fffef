/**
 * The answer cache in the life of a request: whether an answer may be served again, the look-up before the admission,
 * and the answer that is kept after the settlement.
 */
import type { Model } from '../domain/catalog.ts'
import { CACHED_ANSWER_CHARS_MAX, isCachedEndpoint, questionOf } from '../formats/cache-question.ts'
import type { CacheWriting } from '../formats/cached-answer.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { EVENTS_TYPE, JSON_TYPE } from '../lib/http/content-types.ts'
import type { MessageContent } from '../lib/http/message-content.ts'
import { late } from '../lib/primitives/lazy.ts'
import { limit } from '../lib/primitives/limit.ts'
import { MIB, SECOND_MS } from '../lib/primitives/units.ts'
import { hitMetered } from '../modalities/cached-answer.ts'
import type { SettledRecord } from '../records/records.ts'
import type { Admission } from './admit.ts'
import type { ServedOffer } from './offers-outcome.ts'
import type { CacheAsk, CacheMiss } from './cache-use.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { authorize } from './permission.ts'

/** Loaded with the first answer. It brings the writers of all dialects. */
const cachedAnswers = late(() => import('../formats/cached-answer.ts'))

/** The bounds of streams that are collected while they are passed on. */
export const collectedBounds = {
  max: limit('collectedStreamsBytesMax', 64 * MIB, 'Further streams are not kept in the answer cache.'),
  shareMax: limit(
    'collectedStreamsBytesPerAccountMax',
    16 * MIB,
    'Further streams of the account are not kept in the answer cache.',
  ),
}

/**
 * Looks for a cached answer. Returns undefined if there is nothing to wait for. `cacheUse` of the call says what came
 * of it. The admission checks the permission again afterwards.
 */
export function lookUpAnswer(relay: Relay, call: GatewayRequest): Promise<void> | undefined {
  const { cacheAsk } = call
  if (!cacheAsk || cacheAsk.wish === 'off') return undefined
  const model = authorize(relay, call)
  if ('message' in model) return undefined
  const { answerCacheSeconds } = model.limits
  if (answerCacheSeconds === undefined || relay.answers.isOff) return undefined
  // A cached answer may be of a provider or a model that the hints of this request rule out.
  const question = call.hints === undefined ? questionFor(call.request, cacheAsk, model) : undefined
  if (question === undefined) {
    if (cacheAsk.wish !== 'unasked') call.cacheUse = { kind: 'bypass' }
    return undefined
  }
  const keptMs = Math.min(cacheAsk.ageMsMax ?? Infinity, answerCacheSeconds * SECOND_MS)
  const key = relay.answers.keyOf(call.caller.account.id, question)
  const miss: CacheMiss = { kind: 'miss', key, keptMs, isAsked: cacheAsk.wish !== 'unasked' }
  call.cacheUse = miss
  return cacheAsk.wish === 'refresh' ? undefined : find(relay, call, { model, miss })
}

/** What the answer depends on. Undefined for a request whose answer is never served again. */
function questionFor(request: ClientRequest, { wish, path, body, betas = '' }: CacheAsk, model: Model) {
  if (!isRepeatable(request, model) || path.endsWith('/compact')) return undefined
  const question = questionOf(body)
  if (!question || question.hasTools) return undefined
  if (wish === 'unasked' && model.kind === 'text' && question.temperature !== 0) return undefined
  return `${JSON.stringify([model.id, request.endpoint, betas])}\n${question.text}`
}

/** Text in and text out, of which the gateway stores nothing else. */
const isRepeatable = (request: ClientRequest, model: Model): boolean =>
  isCachedEndpoint(request.endpoint) &&
  (model.kind === 'text' || model.kind === 'embedding') &&
  request.imageParts === 0 &&
  request.mediaBytes === 0 &&
  (request.remoteMedia ?? []).length === 0 &&
  isApart(request)

/** Whether it neither continues a stored conversation nor is stored. */
const isApart = ({ conversation }: ClientRequest): boolean =>
  conversation === undefined ||
  (conversation.mode === 'attached' &&
    conversation.keptBytes === undefined &&
    conversation.previousId === undefined &&
    conversation.referredIds.length === 0)

type Sought = { readonly model: Model; readonly miss: CacheMiss }

/** Makes a hit of a miss if the answer is kept and may be served. */
async function find(relay: Relay, call: GatewayRequest, { model, miss }: Sought): Promise<void> {
  const { request, caller } = call
  const found = await relay.answers.find(caller.account.id, miss.key)
  const ageMs = found ? Date.now() - found.createdAtMs : 0
  // A vendor that lied is drained or removed. What it has said is not served any more.
  const isServed = found && model.offers.some(({ id, state }) => id === found.offerId && state !== 'drained')
  if (!found || !isServed || ageMs < 0 || ageMs >= miss.keptMs) return
  const answer = { requestId: call.id, createdAtMs: Date.now(), publicModel: model.id }
  const writing = { model, answer, billed: hitMetered.usage }
  const content = await written(request, found.text, writing).catch((error: unknown) => {
    relay.log('error', 'answer_cache.unreadable', { request: call.id, message: String(error) })
    return undefined
  })
  if (content === undefined) return
  const contentType = request.stream ? EVENTS_TYPE : JSON_TYPE
  call.cacheUse = { kind: 'hit', content, contentType, dropped: found.dropped, ageMs }
}

const written = async (request: ClientRequest, kept: string, writing: CacheWriting): Promise<string | undefined> =>
  cachedAnswers(({ writeCachedAnswer }) => writeCachedAnswer(request, kept, writing))

type FinishedAnswer = {
  readonly admission: Admission
  readonly served: ServedOffer
  readonly record: SettledRecord
  /** As the client got it. */
  readonly content: MessageContent | undefined
  readonly form: 'whole' | 'stream'
  /** Whether it ended because no money was left. */
  readonly isCut: boolean
}

/** Keeps an answer that was charged, if its request asked the cache and the answer may serve again. */
export function keepAnswer(relay: Relay, call: GatewayRequest, finished: FinishedAnswer): void {
  const { cacheUse, request, caller } = call
  const { served, content, form } = finished
  const { model } = finished.admission
  if (cacheUse?.kind !== 'miss' || !isSound(call, finished)) return
  // A stream is several times as long as its answer.
  if (typeof content !== 'string' || (form === 'whole' && content.length > CACHED_ANSWER_CHARS_MAX)) return
  // Without its temperature, the answer is one of many.
  if (!cacheUse.isAsked && served.dropped.some((name) => name.includes('temperature'))) return
  const { key, keptMs } = cacheUse
  relay.answers.keep({
    accountId: caller.account.id,
    key,
    keptMs,
    bytes: content.length,
    make: async () => {
      const { isLasting, wholeOfStream } = await cachedAnswers.load()
      const text = form === 'whole' ? content : await wholeOfStream(request, content)
      if (text.length > CACHED_ANSWER_CHARS_MAX || !(await isLasting(request, text, model))) return undefined
      return { text, offerId: served.offer.id, dropped: served.dropped }
    },
  })
}

/** Whether the answer is complete, and its vendor has reported what it used. */
const isSound = ({ cancelled, life }: GatewayRequest, { record, isCut }: FinishedAnswer): boolean =>
  record.outcome === 'completed' &&
  record.usageSource === 'reported' &&
  cancelled === undefined &&
  !isCut &&
  life.outputCap?.reason !== 'balance'
