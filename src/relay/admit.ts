/** Admission: may this caller have this model, can it be served, and is there money for it. No await, no I/O. */
import { failureForClient } from '../domain/failure-policy.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { mayUse, type Caller } from '../domain/account.ts'
import { paintsInTurn, type Model, type Offer } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import { formatUsd, type NanoUsd } from '../domain/money.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { Balance, Hold, HoldRequest, HoldResult } from '../ledger/ledger.ts'
import { estimateTokens } from '../lib/primitives/token-estimate.ts'
import { planAttempts, type RequestLength } from '../router/plan.ts'
import type { GatewayRequest } from './call.ts'
import { refusalWordsOf } from './dialect-words.ts'
import { adviceOf, limitFailure, type AffordableSize } from './limit-failure.ts'
import { begunSteps } from './conversation.ts'
import { GrowingHold } from './growing-hold.ts'
import { likelyTokens, quote, type Quote } from './quote.ts'
import type { Relay } from './context.ts'
import { refuseRemoteMedia } from './remote-media.ts'
import { FULL } from './provider-concurrency.ts'

export type Admission = {
  readonly kind: 'admitted'
  readonly model: Model
  readonly offers: readonly Offer[]
  readonly hold: Hold
  /** What the hold stands for, and the output limit the gateway set, per choice. */
  readonly quoted: Quote & { readonly kind: 'quoted' }
  /** Where the hold covers the beginning of the answer only. */
  readonly growing?: GrowingHold | undefined
  /** `durable`: when the hold is on disk. */
  readonly held: Pick<Extract<HoldResult, { kind: 'held' }>, 'durable'>
}
export type Refusal = { readonly kind: 'refused'; readonly failure: Failure }

const refuse = (failure: Failure): Refusal => ({ kind: 'refused', failure })

/** The model, if the caller may have it now. The body took time to arrive: the key may have been revoked meanwhile. */
export function permittedModel({ accounts, catalog }: Relay, { caller, request }: GatewayRequest): Model | Failure {
  const key = accounts.findKey(caller.key.id)
  const account = accounts.find(caller.account.id)
  if (!account || !key || key.revokedAtMs !== undefined) return INVALID_KEY
  if (account.status === 'suspended') return SUSPENDED
  const model = suitableModel(catalog, { key, account }, request)
  return 'message' in model ? model : (request.check?.(model) ?? refuseRemoteMedia(request) ?? model)
}

/** The model of a request, if the caller may have it and it makes what the endpoint is for. */
export function suitableModel(catalog: Catalog, caller: Caller, request: ClientRequest): Model | Failure {
  const model = modelFor(catalog, caller, request.model)
  if ('message' in model) return model
  const { kind = 'text' } = request
  if (paintsInTurn(model) ? request.painting : model.kind === kind) return model
  if (paintsInTurn(model)) return nativeOnly(model)
  const message = `The model '${model.id}' makes ${model.kind}: this endpoint is for models that make ${kind}.`
  return { kind: 'model_not_supported', message, param: 'model' }
}

const nativeOnly = ({ id }: Model): Failure => ({
  kind: 'model_not_supported',
  message: `The model '${id}' makes images in Gemini's API only: POST /v1beta/models/${id}:generateContent.`,
  param: 'model',
})

/** What is agreed with a request, and what of it is to be written with its hold. */
export type HoldTerms = Pick<Admission, 'model' | 'offers' | 'quoted'> & { readonly createdAtMs: number }
type Steps = NonNullable<HoldRequest['also']>
type TaskSteps = (agreement: HoldTerms) => Steps

/** `taskSteps`: for work that goes on without its request, and beyond this process. */
export function admit(relay: Relay, call: GatewayRequest, taskSteps?: TaskSteps): Admission | Refusal {
  const { ledger, health, limits } = relay
  const { request, claim } = call
  const { account } = call.caller
  const model = permittedModel(relay, call)
  if ('message' in model) return refuse(model)
  if (request.mediaBytes > 0 && model.limits.mediaInput === 'refused') return refuse(noMedia(model, request))
  if (model.kind === 'text' && request.imageParts > 0 && model.limits.pictureInput === 'refused') {
    return refuse(noPictures(model, request))
  }
  if (request.leavesFiles && relay.pictures.isShortOfRoom) return refuse(NO_FILES)
  const length = lengthOf(request, model)
  const { offers: all } = model
  const plan = planAttempts({ offers: all, health: health.all, nowMs: Date.now(), random: Math.random, length })
  if (plan.length === 0 && length && all.some(({ state }) => state !== 'drained'))
    return refuse(tooLong(model, request, length))
  if (plan.length === 0) {
    return refuse({
      kind: 'unavailable',
      message: `No upstream offers '${model.id}' at the moment.`,
      retryAfterMs: 30_000,
    })
  }
  if (!taskSteps && isShut(relay, plan, account.id)) return refuse(failureForClient(FULL))

  const balance = ledger.balance(account.id)
  const { spendable } = call.limiterPermit
  const affordable = spendable !== undefined && spendable < balance.available ? spendable : balance.available
  const quoted = quote(request, withHabits(relay, model), {
    available: affordable,
    isAlone: balance.held === 0n,
    canGrow: model.kind === 'text',
  })
  if (quoted.kind === 'unaffordable') {
    const limited = quoted.needed <= balance.available && call.limiterPermit.obstacle(quoted.needed, 0)
    const fitting = { endpoint: request.endpoint, tokens: quoted.fitting }
    return refuse(limited ? limitFailure(limited, fitting) : insufficient(balance, quoted.needed, fitting))
  }
  const known = likelyTokens(request, model)
  const isOpen = model.kind === 'text' && request.outputTokensMax === undefined
  const tokens = isOpen ? call.limiterPermit.forecast(known, quoted.outputTokensMax) : known
  const obstacle = call.limiterPermit.obstacle(quoted.amount, tokens)
  if (obstacle) return refuse(limitFailure(obstacle, { endpoint: request.endpoint, tokens: 0 }))
  // Of a whole reply the client sees nothing before the settlement, which is behind the hold or in one with it.
  const isNow = request.stream || quoted.grows || model.kind === 'image' || taskSteps || claim
  const written = isNow ? 'now' : 'soon'
  const createdAtMs = Date.now()
  // Of a task so many are tried; a call goes on to the next where one is only full.
  const offers = taskSteps && plan.length > limits.attemptsMax ? plan.slice(0, limits.attemptsMax) : plan
  const also: Steps[number][] = []
  if (claim) also.push(...claim.begin(call.id))
  also.push(...begunSteps(relay, call, { model, createdAtMs }))
  if (taskSteps) also.push(...taskSteps({ model, offers, quoted, createdAtMs }))
  const { amount } = quoted
  const livesWith = taskSteps ? 'task' : 'process'
  const held = ledger.hold({ id: call.id, accountId: account.id, amount, written, also, createdAtMs, livesWith })
  if (held.kind === 'insufficient') return refuse(insufficient(held.balance, amount))
  call.limiterPermit.reserve(amount, tokens, isOpen)
  call.outputCap = quoted.cap
  const { hold } = held
  const growing = quoted.grows ? new GrowingHold(relay, call, { model, hold, tokens: quoted.outputTokens }) : undefined
  return { kind: 'admitted', model, offers, hold, quoted, growing, held }
}

/** The model with what its vendors' reports have shown of it. */
const withHabits = ({ hiddenReasoners }: Relay, model: Model): Model =>
  hiddenReasoners.has(model.id) ? { ...model, limits: { ...model.limits, hidesReasoning: true } } : model

/** About how long a request is, where that decides which offers can take it. */
function lengthOf(request: ClientRequest, { kind, offers }: Model): RequestLength | undefined {
  if (kind !== 'text') return undefined
  let least = Number.POSITIVE_INFINITY
  for (const { contextTokens } of offers) if (contextTokens !== undefined) least = Math.min(least, contextTokens)
  const output = (request.outputTokensMax ?? 0) * request.choices
  // No text has more tokens than bytes: most requests are short enough for anybody.
  if (request.textBytes + output <= least) return undefined
  return { inputTokens: estimateTokens(request.promptText()), outputTokens: output }
}

function tooLong({ id, offers }: Model, { endpoint }: ClientRequest, { inputTokens }: RequestLength): Failure {
  const most = Math.max(...offers.map(({ contextTokens = 0 }) => contextTokens))
  const message = `The request has about ${inputTokens} tokens; '${id}' takes ${most}, input and output together.`
  return { kind: 'context_length', message, param: refusalWordsOf(endpoint).said }
}

/** Whether none of the offers could be asked, not even after a wait: who hears it now leaves nothing on the disk. */
const isShut = ({ catalog, concurrency }: Relay, offers: readonly Offer[], accountId: string): boolean =>
  offers.every(({ providerId }) => {
    const provider = catalog.provider(providerId)
    return provider && !concurrency.isOpenTo(provider, accountId)
  })

export const INVALID_KEY: Failure = {
  kind: 'invalid_key',
  message: 'The API key is missing, malformed, unknown or revoked. Send it as: Authorization: Bearer <key>.',
}
export const SUSPENDED: Failure = { kind: 'account_suspended', message: 'This account is suspended.' }

/** What new work is told while there is none to be taken. */
export function unready({ notReady }: Relay): Failure | undefined {
  const reason = notReady()
  return reason === undefined
    ? undefined
    : { kind: 'unavailable', message: `Not ready: ${reason}.`, retryAfterMs: 1_000 }
}

const NO_FILES: Failure = {
  kind: 'unavailable',
  message: "The gateway is short of disk space and hosts no images at the moment. Ask for 'b64_json' to go on.",
  retryAfterMs: 60_000,
}

const noMedia = ({ id }: Model, { endpoint }: ClientRequest): Failure => ({
  kind: 'model_not_supported',
  message: `The model '${id}' takes no audio and no files here: they would cost more than its price says.`,
  param: refusalWordsOf(endpoint).said,
})

const noPictures = ({ id }: Model, { endpoint }: ClientRequest): Failure => ({
  kind: 'model_not_supported',
  message: `The model '${id}' takes no pictures.`,
  param: refusalWordsOf(endpoint).said,
})

/** The model, if it exists and both allow-lists admit it. */
export function modelFor(catalog: Catalog, caller: Caller, id: string): Model | Failure {
  const model = catalog.model(id)
  if (!model) {
    const message = `The model '${id.slice(0, 200)}' does not exist. GET /v1/models lists the models of this key.`
    return { kind: 'model_not_found', message, param: 'model' }
  }
  if (mayUse(caller, model)) return model
  return { kind: 'model_not_allowed', message: `This key may not use the model '${id}'.`, param: 'model' }
}

/**
 * What a client is told before its request is even read: there is no new work to be taken, or no money. `mayRepeat`: an
 * earlier answer may only have to be given again, which costs nothing.
 */
export function turnedAway(relay: Relay, { account }: Caller, mayRepeat: boolean): Failure | undefined {
  const { ledger, idempotency } = relay
  const refusal = unready(relay)
  if (refusal) return refusal
  if (!ledger.isEmpty(account.id) || (mayRepeat && idempotency.keepsFor(account.id))) return undefined
  const message = 'The account balance is $0: nothing can be requested until it is topped up.'
  return { kind: 'insufficient_balance', message, shouldRetry: false }
}

/** Says what is there, what is needed and what would fit. Open holds alone in the way are worth waiting for. */
function insufficient(balance: Balance, needed: NanoUsd, fitting?: AffordableSize): Failure {
  const { posted, held, available } = balance
  const amounts = `available $${formatUsd(available)}, held $${formatUsd(held)}, needed $${formatUsd(needed)}`
  const message = `The account balance does not cover this request: ${amounts}.${adviceOf(fitting)}`
  const isWaiting = posted >= needed
  // SDKs do not come back after a 401, whatever Retry-After says, unless they are told to.
  const hint = isWaiting ? { retryAfterMs: 2_000, shouldRetry: true } : { shouldRetry: false }
  return { kind: 'insufficient_balance', message, ...hint }
}
