/**
 * The outline of the life of one request: admit → attempt → answer → finish. It knows no SQL, no routes and no
 * cookies. Everything that it uses comes from `Relay`.
 */
import type { Failure } from '../domain/failure.ts'
import type { Conversation } from '../formats/core/contract.ts'
import { deliveryOf } from '../modalities/modalities.ts'
import { admit, type Admission, type OldBalance, type Refusal } from './admit.ts'
import { soon } from '../lib/primitives/soon.ts'
import { answerWhole, type Answer } from './answer.ts'
import { lookUpAnswer } from './answer-cache.ts'
import { answerHit } from './answer-hit.ts'
import { answerStream } from './stream-answer.ts'
import { tryOffers } from './attempt.ts'
import { tryModels } from './fallback-models.ts'
import { NONE_TRIED } from './offers-outcome.ts'
import { factsOf } from './prepared-attempt.ts'
import type { BackgroundResponse } from './background.ts'
import { CLIENT_CLOSED, type GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { makeTurnRoom, recall } from './conversation.ts'
import { decideAgain, takeBack } from './decide-again.ts'
import { failureHeaders } from './headers.ts'
import { lockOnce, type ReplayedAnswer } from './idempotency.ts'
import { dropUnheld, fail, rescue } from './finish.ts'
import { precheckWait, unready } from './permission.ts'
import { endUnheld, heldFirst, waitsForHold } from './refused-hold.ts'
import { relayTask } from './video.ts'

export type RelayResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | {
      readonly kind: 'failure'
      readonly failure: Failure
      /** The number of attempts, and the cost. */
      readonly headers?: Readonly<Record<string, string>>
      /** Whether a request record already has this failure. */
      readonly isRecorded?: boolean
    }
  /** The client left before, so there is nobody to answer. */
  | { readonly kind: 'unheard' }
  /** The answer is made in the background. `text` is its current state. */
  | {
      readonly kind: 'background'
      readonly response: BackgroundResponse
      readonly text: string
      readonly headers: Readonly<Record<string, string>>
    }
  | ReplayedAnswer

/** Relays one request. Resolves when its answer, or the start of its stream, may go to the client. */
export function relayRequest(relay: Relay, call: GatewayRequest): Promise<RelayResult> {
  const { once, request, cacheAsk } = call
  // Nearly every request has nothing to wait for before its admission.
  return once || request.conversation || cacheAsk ? lookFirst(relay, call) : carryOut(relay, call)
}

async function lookFirst(relay: Relay, call: GatewayRequest): Promise<RelayResult> {
  const unfit = precheckWait(relay, call)
  if (unfit) return refusedFor(call, unfit)
  const earlier = call.once && (await lockOnce(relay, call, call.once))
  if (earlier) {
    call.life.ended(undefined)
    return earlier
  }
  // A shutdown may have begun during the look-up, which would not wait for work that starts now. The key may have been
  // revoked, and earlier turns are read only for a caller who may have them.
  const refusal = unready(relay) ?? precheckWait(relay, call)
  if (refusal) return refusedFor(call, refusal)
  const earlyFailure =
    call.request.conversation &&
    ((await prepare(relay, call)) ?? backgroundObstacle(relay, call) ?? makeTurnRoom(relay, call))
  const lookUp = earlyFailure ? undefined : lookUpAnswer(relay, call)
  if (!lookUp) return carryOut(relay, call, earlyFailure)
  // A shutdown waits for the request. It may have begun before.
  relay.live.add(call)
  await lookUp
  return carryOut(relay, call, unready(relay))
}

/** Carries the request out. `earlyFailure` is a known reason for refusing it. */
async function carryOut(relay: Relay, call: GatewayRequest, earlyFailure?: Failure): Promise<RelayResult> {
  const { conversation, stream, wantsBytes } = call.request
  if (deliveryOf(call.request) === 'task') return relayTask(relay, call)
  let admission: Admission | Refusal | OldBalance
  try {
    admission = earlyFailure ? { kind: 'refused', failure: earlyFailure } : admit(relay, call)
    if (admission.kind === 'old_balance') admission = await decideAgain(relay, call, () => admit(relay, call))
  } catch (error) {
    dropUnheld(relay, call)
    throw error
  }
  if (admission.kind === 'refused') {
    dropUnheld(relay, call)
    return { kind: 'failure', failure: admission.failure }
  }
  relay.live.add(call)
  try {
    const needed = admission.quoted.amount
    if (waitsForHold(relay, call, admission)) {
      const outcome = await heldFor(relay, call, admission)
      if (outcome.kind === 'refused') {
        // Not awaited: an error of it is not one of this admission, which is gone.
        if (takeBack(relay, call, outcome.refusal)) return carryOut(relay, call)
        return await endUnheld(relay, call, { refusal: outcome.refusal, needed })
      }
    }
    if (call.cacheUse?.kind === 'hit') {
      if (isBarred(call)) return failureOf(call, await fail(relay, call, { admission, attempted: NONE_TRIED }))
      return { kind: 'answer', answer: await answerHit(relay, call, { admission, hit: call.cacheUse }) }
    }
    if (conversation && call.isBackground) return await detach(relay, call, { admission, conversation })
    // The upstream is called while the hold is being written. Nothing reaches the client before both are done.
    const attempts = admission.fallbacks ? tryModels(relay, call, admission) : tryOffers(relay, call, admission)
    const ready = heldFirst(relay, call, { admission, attempts })
    // The head of bytes has their type, so it waits for an upstream.
    let attempted = stream && !wantsBytes ? await soon(ready, relay.limits.heartbeatMs) : await ready
    // A stream also goes on if its upstream is slow to begin. It gets its headers as soon as its hold is on disk, and
    // the rest happens inside it.
    if (!attempted && (await admission.held.durable).kind === 'refused') attempted = await ready
    if (attempted?.kind === 'unheld') return await endUnheld(relay, call, { refusal: attempted.refusal, needed })
    if (attempted?.kind === 'failed') {
      return failureOf(call, await fail(relay, call, { admission, attempted }))
    }
    if (attempted?.kind === 'whole') {
      return { kind: 'answer', answer: await answerWhole(relay, call, { admission, served: attempted }) }
    }
    const begun = attempted ? 'answering' : 'waiting'
    const { dropped = [], open, offer } = attempted ?? {}
    const job = { admission, ready: attempts, begun, dropped, offer, contentType: open?.contentType } as const
    return { kind: 'answer', answer: answerStream(relay, call, job) }
  } catch (error) {
    await rescue(relay, call, admission)
    throw error
  }
}

/** Whether the caller lost its permission while its hold was written. */
const isBarred = ({ cancelled }: GatewayRequest): boolean => cancelled === 'revoked' || cancelled === 'suspended'

/** The result for a request that was refused before money was held. */
function refusedFor({ life }: GatewayRequest, failure: Failure): RelayResult {
  life.ended(undefined)
  return { kind: 'failure', failure }
}

/** The result for a failure after a hold. Its record has the failure, too. */
function failureOf({ life }: GatewayRequest, failure: Failure): RelayResult {
  if (failure === CLIENT_CLOSED) return { kind: 'unheard' }
  const record = life.state.stage === 'ended' ? life.state.record : undefined
  if (!record) return { kind: 'failure', failure }
  return { kind: 'failure', failure, headers: failureHeaders(record), isRecorded: record.attempts.length > 0 }
}

/** Prepares what must be known before a request that continues a conversation can be priced. */
async function prepare(relay: Relay, call: GatewayRequest): Promise<Failure | undefined> {
  // From now on a shutdown waits for this request, as for any call.
  relay.live.add(call)
  try {
    return await recall(relay.turns, { accountId: call.caller.account.id }, call.request)
  } catch (error) {
    relay.live.delete(call)
    call.life.ended(undefined)
    throw error
  }
}

/** Why no further background answer may begin. Checked in the tick in which it would begin. */
const backgroundObstacle = ({ backgrounds }: Relay, { isBackground, caller }: GatewayRequest): Failure | undefined =>
  isBackground ? backgrounds.obstacle({ accountId: caller.account.id }) : undefined

/** Resolves with the outcome of a hold that the request waits for. */
function heldFor({ backgrounds }: Relay, { isBackground, caller }: GatewayRequest, { held }: Admission) {
  return isBackground ? backgrounds.whileHeld({ accountId: caller.account.id }, held.durable) : held.durable
}

type BackgroundStart = { readonly admission: Admission; readonly conversation: Conversation }

/** Lets a background answer run on its own, once its hold and its turn are on disk. */
async function detach(
  relay: Relay,
  call: GatewayRequest,
  { admission, conversation }: BackgroundStart,
): Promise<RelayResult> {
  const attempts = admission.fallbacks ? tryModels(relay, call, admission) : tryOffers(relay, call, admission)
  const ready = Promise.all([attempts, admission.held.durable]).then(([attempted]) => attempted)
  const job = { admission, ready, begun: 'waiting', dropped: [] } as const
  const { headers, events: answer } = answerStream(relay, call, job)
  const facts = factsOf(call, admission)
  const turn = conversation.begun(facts)
  const response = relay.backgrounds.start({ call, conversation, facts, id: turn.id, answer }, (error) =>
    relay.log('error', 'relay.background', { request: call.id, message: String(error) }),
  )
  await admission.held.durable
  return { kind: 'background', response, text: conversation.show(turn), headers }
}
