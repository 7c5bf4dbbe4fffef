/** What an answer from the answer cache costs: one piece. It is free if the price card names no price for it. */
import type { Model } from '../domain/catalog.ts'
import { CACHED_ANSWER, priceOf } from '../domain/price.ts'
import type { MeteredUsage } from '../formats/core/contract.ts'
import { estimatedUsage } from '../formats/core/usage-estimate.ts'
import type { Means, Quote } from './modality.ts'

/** No vendor worked for it, so it has no tokens. The record of a request with this piece is that of a hit. */
export const hitMetered: MeteredUsage = {
  usage: { ...estimatedUsage(0, 0), pieces: [{ unit: CACHED_ANSWER, count: 1 }] },
  source: 'reported',
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0, outputTokensMax: 0 }

/** The quote of a hit. Its price is known, so the hold is exactly the charge. */
export function quoteHit({ sale }: Pick<Model, 'sale'>, { available }: Pick<Means, 'available'>): Quote {
  const amount = priceOf(hitMetered.usage, sale)
  if (amount > available) return { kind: 'unaffordable', needed: amount, fitting: 0 }
  return { kind: 'quoted', amount, ...NO_TOKENS, cap: undefined, grows: false }
}
