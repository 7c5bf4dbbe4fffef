/**
 * The models that a request names in case its first one fails. The hold stays the same and is extended to what the next
 * model can cost, so that the request has one hold, one charge and one record. The charge follows the price card of the
 * model that serves.
 */
import { modelScopesOf, NO_SCOPES } from '../accounts/model-scopes.ts'
import { modalityOf } from '../modalities/modalities.ts'
import type { AnswerModality, Quote } from '../modalities/modality.ts'
import type { Model, Offer } from '../domain/catalog.ts'
import type { NanoUsd } from '../domain/money.ts'
import { planFor, withHabits, type Admission } from './admit.ts'
import { tryOffers, tryOffersOf } from './attempt.ts'
import type { AllFailed, OffersOutcome } from './offers-outcome.ts'
import { isBeyond } from './attempt-faults.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { GrowingHold } from './growing-hold.ts'
import { limitCondition } from './hold-conditions.ts'
import { newerBalance } from './newer-balance.ts'
import { authorize } from './permission.ts'
import { isAbandoned } from './prepared-attempt.ts'

/** Tries the offers of the admitted model, and those of each fall-back model as long as all have failed. */
export async function tryModels(relay: Relay, call: GatewayRequest, admission: Admission): Promise<OffersOutcome> {
  let outcome = await tryOffers(relay, call, admission)
  while (outcome.kind === 'failed' && admission.fallbacks?.length && mayGoOn(relay, call, outcome)) {
    if (!(await takeNext(relay, call, admission))) break
    outcome = await tryOffersOf(relay, call, admission)
  }
  return outcome
}

/** A model that was tried and failed is one attempt of the retry budget, like an offer. */
function mayGoOn(relay: Relay, call: GatewayRequest, { failure, last, progress, mayBeMade }: AllFailed): boolean {
  // Another model would mean paying twice for one answer.
  if (isAbandoned(call) || mayBeMade || (progress?.answered ?? 0) > 0) return false
  return !last || isBeyond(failure) || relay.retries.spend(performance.now())
}

/** Turns the admission to the next model that the caller may use and can pay. False if there is none. */
async function takeNext(relay: Relay, call: GatewayRequest, admission: Admission): Promise<boolean> {
  // No attempt is running, so a client that leaves now owes nothing.
  call.life.waiting()
  if ((await admission.held.durable).kind === 'refused') return false
  const names = [...(admission.fallbacks ?? [])]
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (isAbandoned(call)) return false
    const next = termsOf(relay, call, { name, hold: admission.hold }) ?? (await later(relay, call, { name, admission }))
    if (!next || !(await cover(relay, call, { admission, amount: next.quoted.amount }))) continue
    if (isAbandoned(call)) return false
    turnTo(relay, call, { admission, next, fallbacks: names })
    return true
  }
  return false
}

type Terms = {
  readonly model: Model
  readonly modality: AnswerModality
  readonly offers: readonly Offer[]
  readonly quoted: Extract<Quote, { kind: 'quoted' }>
}

/** What serving with this model takes, or undefined if it cannot be had. The open hold counts as available. */
function termsOf(
  relay: Relay,
  call: GatewayRequest,
  { name, hold }: Pick<Admission, 'hold'> & { readonly name: string },
): Terms | undefined {
  const { request, limiterPermit } = call
  const model = authorize(relay, call, name)
  if ('message' in model || hasLimits(call, model)) return undefined
  const modality = modalityOf(model)
  if (modality.delivery === 'task' || modality.acceptsInput(model, request)) return undefined
  const offers = planFor(relay, call, { model, modality, name })
  if ('message' in offers) return undefined
  const { available, held } = relay.ledger.balance(hold.accountId)
  const { spendable } = limiterPermit
  const free = spendable !== undefined && spendable < available ? spendable : available
  const means = { available: free + hold.amount, isAlone: held === hold.amount }
  const quoted = modality.quote(request, withHabits(relay, model), means)
  return quoted.kind === 'quoted' ? { model, modality, offers, quoted } : undefined
}

/**
 * Whether limits of its own hold for the model. The request is counted for the model of its admission, with its hold.
 * So such a model only serves a request that is admitted for it.
 */
const hasLimits = (call: GatewayRequest, model: Model): boolean => modelScopesOf(call.caller, model) !== NO_SCOPES

type NamedModel = { readonly name: string; readonly admission: Admission }

/** The same with a newer balance, if the last one was old. */
async function later(relay: Relay, call: GatewayRequest, { name, admission }: NamedModel): Promise<Terms | undefined> {
  const { hold } = admission
  if (!relay.ledger.isOutdated(hold.accountId)) return undefined
  await newerBalance(relay, hold.accountId)
  return termsOf(relay, call, { name, hold })
}

type Cover = { readonly admission: Admission; readonly amount: NanoUsd }

/** Extends the hold to this amount. Resolves when that is on disk, to false if it is refused. */
async function cover(relay: Relay, call: GatewayRequest, { admission, amount }: Cover): Promise<boolean> {
  const { hold } = admission
  const more = amount - hold.amount
  // A hold that is larger than needed stays so. Its end releases the rest.
  if (more <= 0n) return true
  const reserved = call.limiterPermit.extend(more)
  if (reserved.kind === 'limited') return false
  const { reservation } = reserved
  const extended = relay.ledger.extend(hold, more, reservation && [limitCondition(reservation)])
  if (extended.kind === 'held' && (await extended.durable).kind === 'durable') return true
  call.limiterPermit.retract(more)
  return false
}

type Turn = { readonly admission: Admission; readonly next: Terms; readonly fallbacks: readonly string[] }

/** Whoever has the admission sees the model that is tried now: the meter, the charge, the record and the answer. */
function turnTo(relay: Relay, call: GatewayRequest, { admission, next, fallbacks }: Turn): void {
  const { model, quoted } = next
  const { hold } = admission
  const growing = quoted.grows ? new GrowingHold(relay, call, { model, hold, tokens: quoted.outputTokens }) : undefined
  Object.assign(admission, { ...next, fallbacks, growing })
}
