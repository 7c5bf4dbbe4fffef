/** Which key a request to an offer uses, and what the failure of a key says about the offer. */
import type { UpstreamFailure } from '../domain/failure.ts'
import type { KeyedProvider, Model, Offer } from '../domain/catalog.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { conversationOfModel } from './conversation-key.ts'
import type { OfferChoice } from './offer-choice.ts'
import type { Permit } from './provider-concurrency.ts'
import { isKeyFault } from './provider-keys.ts'

/** A request and the model that serves it. */
type Asking = { readonly call: GatewayRequest; readonly admission: { readonly model: Model } }

/**
 * The choice with one of the provider's keys, which the permit holds from now on. Undefined: every key has its maximum
 * of requests.
 */
export function withKey(
  relay: Relay,
  choice: OfferChoice,
  permit: Permit,
  { call, admission: { model } }: Asking,
): OfferChoice | undefined {
  const { keys } = choice.provider
  if (keys === undefined) return choice
  // A model with one offer has no conversations otherwise.
  const conversation = call.conversationKey ?? conversationOfModel(call, model)
  const lease = relay.health.keys.take(keys, { offerId: choice.offer.id, conversation })
  if (!lease) return undefined
  permit.uses(lease)
  return { ...choice, provider: lease.provider }
}

/**
 * The same offer with a permit, if its key was refused and another one is ready. It is a retry of the budget. `busy`:
 * the ready ones have their maximum of requests.
 */
export function withAnotherKey(
  relay: Relay,
  choice: OfferChoice,
  failure: UpstreamFailure,
): readonly [OfferChoice, Permit] | 'busy' | undefined {
  if (choice.provider.key === undefined || !isKeyFault(failure)) return undefined
  const provider = relay.catalog.provider(choice.provider.id)
  if (!provider?.keys || relay.health.keys.restMs(provider.keys, choice.offer.id) > 0) return undefined
  const permit = relay.concurrency.take(provider)
  if (!permit) return 'busy'
  if (relay.retries.spend(performance.now())) return [{ ...choice, provider }, permit]
  permit.leave()
  return undefined
}

type OfferWithKey = Pick<OfferChoice, 'provider'> & { readonly offer: Pick<Offer, 'id'> }

/** What a failure says about the offer. Undefined: only its key is at fault, which rests, and another one is ready. */
export function offerFailure(
  { health, catalog }: Pick<Relay, 'health' | 'catalog'>,
  { provider, offer: { id } }: OfferWithKey,
  failure: UpstreamFailure,
): UpstreamFailure | undefined {
  const { key, secret } = provider
  if (key === undefined || secret === undefined || !isKeyFault(failure)) return failure
  const { keys } = catalog.provider(provider.id) ?? {}
  health.keys.refused({ ...provider, key, secret }, failure, isOfOffer(failure, keys) ? id : undefined)
  // The offer rests until its first key is back.
  const retryAfterMs = keys ? health.keys.restMs(keys, id) : 0
  return retryAfterMs === 0 ? undefined : { ...failure, kind: 'rate', retryAfterMs }
}

/**
 * Whether the key rests for the offer alone: vendors limit the rate of each model. If keys have limits, it rests for
 * all, because the permits of a provider are for any offer.
 */
const isOfOffer = ({ kind }: UpstreamFailure, keys: readonly KeyedProvider[] = []): boolean =>
  kind === 'rate' && keys.every(({ key }) => key.concurrentRequests === undefined)
