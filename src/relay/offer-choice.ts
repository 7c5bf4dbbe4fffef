/** An offer with its current provider and preset. */
import type { Offer, Provider } from '../domain/catalog.ts'
import type { Dialect } from '../domain/turn.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { Preset } from '../vendors/preset.ts'
import { findPreset } from '../vendors/presets.ts'
import { isForResponses, rulesFor } from '../vendors/fit.ts'
import type { Relay } from './context.ts'

/** `provider` and `preset` are those of the offer. */
export type OfferChoice = { readonly offer: Offer; readonly provider: Provider; readonly preset: Preset }

type Asker = { readonly offer: Pick<Offer, 'upstreamModel'>; readonly preset: Pick<Preset, 'id' | 'dialects'> }

/**
 * The dialects in which an offer may be called. Some vendors support more in one of their dialects. Requests that the
 * other dialect would refuse use that one, and so do requests that are translated anyway.
 */
export function dialectsFor(
  { offer, preset: { id, dialects } }: Asker,
  request: Pick<ClientRequest, 'choices' | 'endpoint' | 'hasTools'>,
): readonly Dialect[] {
  if (!dialects.includes('chat') || !dialects.includes('responses') || request.choices > 1) return dialects
  const isTranslated = request.endpoint !== 'chat.completions' && request.endpoint !== 'responses'
  const asked = { hasTools: request.hasTools ?? false, isTranslated }
  return isForResponses(rulesFor(id, offer.upstreamModel), asked) ? ['responses'] : dialects
}

export const isUnchanged = ({ catalog }: Relay, { id, secret, baseUrl }: Provider): boolean => {
  const now = catalog.provider(id)
  const isKnown = now?.secret === secret || now?.keys?.some((one) => one.secret === secret)
  return isKnown === true && now?.baseUrl === baseUrl
}

export function offerChoiceOf({ catalog }: Relay, offer: Offer): OfferChoice | undefined {
  const provider = catalog.provider(offer.providerId)
  const preset = provider && findPreset(provider.preset)
  return provider && preset && { offer, provider, preset }
}
