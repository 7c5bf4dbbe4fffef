/** Admission: whether this caller may use the model, an offer can serve it, and there is money. No await, no I/O. */
import { failureForClient } from '../domain/failure-policy.ts'
import type { Model, Offer } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { RequestLength } from '../domain/usage.ts'
import { formatUsd, type NanoUsd } from '../domain/money.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { wordsOf } from '../formats/core/request-words.ts'
import type { Balance, Hold, HoldCondition, HoldRequest, HoldResult } from '../ledger/ledger.ts'
import { modalityOf } from '../modalities/modalities.ts'
import type { AnswerModality, Modality, Quote } from '../modalities/modality.ts'
import { quoteHit } from '../modalities/cached-answer.ts'
import { planAttempts } from '../router/plan.ts'
import type { GatewayRequest } from './call.ts'
import { adviceOf, limitFailure, type AffordableSize } from '../accounts/limit-failure.ts'
import { begunSteps } from './conversation.ts'
import { conversationKeyFor } from './conversation-key.ts'
import { GrowingHold } from './growing-hold.ts'
import { hintedModel, hintedPlan, namesToTry } from './hinted-offers.ts'
import { keyCondition, limitCondition } from './hold-conditions.ts'
import type { Relay } from './context.ts'
import { authorize } from './permission.ts'
import { FULL } from './provider-concurrency.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

export type Admission = {
  readonly kind: 'admitted'
  readonly model: Model
  readonly modality: AnswerModality
  readonly offers: readonly Offer[]
  readonly hold: Hold
  /** What the hold covers, and the output limit that the gateway set, per choice. */
  readonly quoted: Quote & { readonly kind: 'quoted' }
  /** Names of the models that may be tried if this one cannot serve the request (fallback-models.ts). */
  readonly fallbacks: readonly string[] | undefined
  /** Present if the hold covers only the beginning of the answer. */
  readonly growing?: GrowingHold | undefined
  /** `durable` resolves when the hold is on disk, or refused. */
  readonly held: Pick<Extract<HoldResult, { kind: 'held' }>, 'durable' | 'isSure'>
}
export type Refusal = { readonly kind: 'refused'; readonly failure: Failure }
/** An old balance would refuse the request or bound its answer, so it must be read first (see `decideAgain`). */
export type OldBalance = { readonly kind: 'old_balance' }

/** How often an admission may be decided again. */
export const DECISIONS_MAX = 5

const refuse = (failure: Failure): Refusal => ({ kind: 'refused', failure })

/** The terms of an admitted request, which are written with its hold. */
export type HoldTerms = Pick<Admission, 'model' | 'offers' | 'quoted'> & { readonly createdAtMs: number }
type Steps = NonNullable<HoldRequest['also']>
type TaskSteps = (terms: HoldTerms) => Steps

/** Admits a request that an upstream answers. */
export function admit(relay: Relay, call: GatewayRequest): Admission | Refusal | OldBalance {
  const { hints } = call
  if (hints === undefined) return admitModel(relay, call, call.request.model)
  const names = namesToTry(relay, call, hints)
  if ('message' in names) return refuse(names)
  for (let i = 0; ; i++) {
    const fallbacks = names.slice(i + 1)
    const admitted = admitModel(relay, call, names[i] ?? call.request.model, fallbacks)
    if (admitted.kind !== 'refused' || fallbacks.length === 0) return admitted
  }
}

function admitModel(
  relay: Relay,
  call: GatewayRequest,
  name: string,
  fallbacks?: readonly string[],
): Admission | Refusal | OldBalance {
  const model = authorize(relay, call, name)
  if ('message' in model) return refuse(model)
  const modality = modalityOf(model)
  if (modality.delivery === 'task') throw new Error('a task was requested as an answer')
  const taken = takeHold(relay, call, { model, modality, name, fallbacks })
  if (taken.kind !== 'held') return taken
  const { offers, quoted, held } = taken
  const { hold } = held
  const growing = quoted.grows ? new GrowingHold(relay, call, { model, hold, tokens: quoted.outputTokens }) : undefined
  return { kind: 'admitted', model, modality, offers, hold, quoted, fallbacks, growing, held }
}

type TaskWork = {
  /** Why no more tasks are accepted. A caller that may not use the model does not learn it. */
  readonly obstacle: () => Failure | undefined
  /** The steps that are written with the hold. */
  readonly steps: TaskSteps
}

/** Admits work that outlives its request and this process. */
export function admitTask(
  relay: Relay,
  call: GatewayRequest,
  { obstacle, steps }: TaskWork,
): HeldWork | Refusal | OldBalance {
  const { model: name } = call.request
  const model = authorize(relay, call, name)
  if ('message' in model) return refuse(model)
  const names = call.hints && namesToTry(relay, call, call.hints)
  if (names && 'message' in names) return refuse(names)
  const full = obstacle()
  return full ? refuse(full) : takeHold(relay, call, { model, modality: modalityOf(model), name, taskSteps: steps })
}

type HeldWork = Omit<HoldTerms, 'createdAtMs' | 'model'> & {
  readonly kind: 'held'
  readonly held: Extract<HoldResult, { kind: 'held' }>
}

type Work = {
  readonly model: Model
  readonly modality: Modality
  /** How the request names the model. */
  readonly name: string
  readonly fallbacks?: readonly string[] | undefined
  readonly taskSteps?: TaskSteps
}

/** Finds the offers and the money for a request. There is no `await` in between, so the last dollar is held once. */
function takeHold(relay: Relay, call: GatewayRequest, work: Work): HeldWork | Refusal | OldBalance {
  const { model, modality, taskSteps } = work
  const { ledger } = relay
  const { request, limiterPermit } = call
  // Checked before the hold: what fails after it must be rescued.
  call.life.expect('received')
  const { lock } = call.life
  const { account } = call.caller
  const unfit = modality.acceptsInput(model, request)
  if (unfit) return refuse(unfit)
  if (request.leavesFiles && relay.pictures.isShortOfRoom) return refuse(NO_FILES)
  const isHit = call.cacheUse?.kind === 'hit'
  const planned = isHit ? NO_OFFERS : planFor(relay, call, work)
  if ('message' in planned) return refuse(planned)
  const limitedModel = limiterPermit.choose(model)
  if (limitedModel) return refuse(limitFailure(limitedModel))

  const balance = ledger.balance(account.id)
  const { spendable } = limiterPermit
  const affordable = spendable !== undefined && spendable < balance.available ? spendable : balance.available
  const means = { available: affordable, isAlone: balance.held === 0n }
  const quoted = isHit ? quoteHit(model, means) : modality.quote(request, withHabits(relay, model), means)
  if (affordable === balance.available && ledger.isOutdated(account.id)) {
    // One look is enough for a longer answer.
    const most = quoted.kind === 'unaffordable' ? DECISIONS_MAX : quoted.cap?.reason === 'balance' ? 1 : 0
    if (call.decisions < most) return { kind: 'old_balance' }
  }
  if (quoted.kind === 'unaffordable') {
    const limited = quoted.needed <= balance.available && limiterPermit.obstacle(quoted.needed, 0)
    const fitting = { words: wordsOf(request), tokens: quoted.fitting }
    return refuse(limited ? limitFailure(limited, fitting) : insufficient(balance, quoted.needed, fitting))
  }
  const known = isHit ? 0 : modality.likelyTokens(request, model)
  const isOpen = !isHit && modality.isIncremental && request.outputTokensMax === undefined
  const tokens = isOpen ? limiterPermit.forecast(known, quoted.outputTokensMax) : known
  const obstacle = limiterPermit.obstacle(quoted.amount, tokens)
  if (obstacle) return refuse(limitFailure(obstacle, { words: wordsOf(request), tokens: 0 }))
  // The client sees nothing of a whole reply before its settlement, which is written after the hold or with it.
  const reservation = limiterPermit.reserve(quoted.amount, tokens, taskSteps ? 'task' : isOpen ? 'forecast' : 'known')
  // A hold that a fall-back model may extend is written at once.
  const mayGrow = quoted.grows || work.fallbacks?.length
  const isNow = (request.stream && !isHit) || mayGrow || modality.needsDurableHold || lock || reservation
  const written = isNow ? 'now' : 'soon'
  const createdAtMs = Date.now()
  // A task tries at most this many offers. A call also goes on to the next offer if one is only full.
  const { attemptsMax } = relay.limits
  const offers = taskSteps && planned.length > attemptsMax ? planned.slice(0, attemptsMax) : planned
  const conditions: HoldCondition[] = []
  if (lock) conditions.push(keyCondition(lock, call.id))
  if (reservation) conditions.push(limitCondition(reservation))
  const also = [...begunSteps(relay, call, { model, createdAtMs })]
  if (taskSteps) also.push(...taskSteps({ model, offers, quoted, createdAtMs }))
  const { amount } = quoted
  const livesWith = taskSteps ? 'task' : 'process'
  const whose = { id: call.id, accountId: account.id, counted: reservation?.counted }
  const held = ledger.hold({ ...whose, livesWith, amount, written, conditions, also, createdAtMs })
  if (held.kind === 'insufficient') {
    limiterPermit.withdraw()
    return refuse(insufficient(held.balance, amount))
  }
  call.life.admitted(quoted.cap)
  return { kind: 'held', offers, quoted, held }
}

/** An answer from the answer cache needs no upstream. */
const NO_OFFERS: readonly Offer[] = []

/** The offers of a model in the order of attempts, or the reason why there are none. */
export function planFor(relay: Relay, call: GatewayRequest, work: Work): readonly Offer[] | Failure {
  const { request, caller, hints } = call
  const { modality, taskSteps, name } = work
  const hinted = hints === undefined && name === work.model.id ? undefined : hintedModel(call, work.model, name)
  if (hinted && 'message' in hinted) return hinted
  const model = hinted?.model ?? work.model
  const { health } = relay
  const { offers: all } = model
  const length = modality.lengthOf(request, model)
  const policy = hinted?.policy
  const nowMs = steadyNowMs()
  const conversation = conversationKeyFor(call, model)
  call.conversationKey = conversation
  const warm = conversation && health.conversations.warm(conversation, nowMs)
  const known = { health: health.all, signals: health.signals, conversation, warm }
  const ranked = planAttempts({ model, request, length, policy, nowMs, random: Math.random, ...known })
  const plan = hinted ? hintedPlan(relay, hinted, ranked) : ranked
  if (plan.length === 0) {
    if (length && all.some(({ state }) => state !== 'drained')) return tooLong(model, request, length)
    const message = `No upstream offers '${model.id}' at the moment.`
    return { kind: 'unavailable', message, retryAfterMs: 30_000 }
  }
  return !taskSteps && isShut(relay, plan, caller.account.id) ? failureForClient(FULL) : plan
}

/** The model with what is known from its vendors' reports. */
export const withHabits = ({ hiddenReasoners }: Relay, model: Model): Model =>
  hiddenReasoners.has(model.id) ? { ...model, limits: { ...model.limits, hidesReasoning: true } } : model

function tooLong({ id, offers }: Model, request: ClientRequest, { inputTokens }: RequestLength): Failure {
  const most = Math.max(...offers.map(({ contextTokens = 0 }) => contextTokens))
  const message = `The request has about ${inputTokens} tokens; '${id}' allows ${most} for input and output together.`
  return { kind: 'context_length', message, param: wordsOf(request).input }
}

/** Whether no offer could be tried, even after a wait. A request that is refused now leaves nothing on disk. */
const isShut = ({ catalog, concurrency }: Relay, offers: readonly Offer[], accountId: string): boolean =>
  offers.every(({ providerId }) => {
    const provider = catalog.provider(providerId)
    return provider && !concurrency.isOpenTo(provider, accountId)
  })

const NO_FILES: Failure = {
  kind: 'unavailable',
  message: "The gateway cannot store files at the moment, so it hosts no images. Request 'b64_json' instead.",
  retryAfterMs: MINUTE_MS,
}

/** States what is available, what is needed and what would fit. If only open holds are in the way, waiting helps. */
export function insufficient(balance: Balance, needed: NanoUsd, fitting?: AffordableSize): Failure {
  const { posted, held, available } = balance
  const amounts = `available $${formatUsd(available)}, held $${formatUsd(held)}, needed $${formatUsd(needed)}`
  const message = `The account balance does not cover this request: ${amounts}.${adviceOf(fitting)}`
  const isWaiting = posted >= needed
  // SDKs do not retry after a 401, whatever its Retry-After is, unless they are told to.
  const hint = isWaiting ? { retryAfterMs: 2_000, shouldRetry: true } : { shouldRetry: false }
  return { kind: 'insufficient_balance', message, ...hint }
}
