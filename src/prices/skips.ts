/** The reasons why an import leaves out a model or a provider: sentences with a code and facts. */
import { reasonOf, speakerOf, type MessageFacts, type LocalizedMessage } from '../lib/primitives/localized-message.ts'

export const skips = {
  declared: 'declared in tollgate.yaml; change it there',
  vendor_unknown: "the list has no vendor for the preset '{preset}'",
  offer_unpriced: 'the list has no price for what {provider} serves it with',
  output_unpriced: 'the list has no price of its output',
  none_named: 'no model of the chosen providers has this name',
  as_listed: '{why}',

  // The list has these sentences. tools/price-list.ts writes them into it.
  by_deployment: 'models have the names of your deployments: declare them in tollgate.yaml',
  by_region: 'prices differ by region: declare them in tollgate.yaml',
  other_currency: 'it bills in another currency than dollars: declare its models in tollgate.yaml',
  by_pixels: 'videos are priced by their pixels: declare them in tollgate.yaml',
  passed_on: 'what a call costs depends on who it is passed on to',
  fee: 'each request has a fee besides its tokens',
  unlisted: 'the list does not know this vendor',
  upscaler: 'it upscales videos, for the models that name it: declare them in tollgate.yaml',
  not_text: 'not text alone, or billed for more than its tokens',
  no_price: 'it has no price',
} as const

/** A model or a provider that is left out, and why. `code` and `facts` are the reason as data. */
export type SkippedModel = {
  readonly what: string
  readonly reason: string
  readonly code: string
  readonly facts: MessageFacts
}

export const saySkip = speakerOf(skips)

export const skip = (what: string, { reason: code, facts, message: reason }: LocalizedMessage): SkippedModel => ({
  what,
  reason,
  code,
  facts,
})

/** A skip for a reason that the list gives. */
export const skipAsListed = (what: string, why: string): SkippedModel => {
  const code = reasonOf(skips, why)
  return code === undefined ? skip(what, saySkip('as_listed', { why })) : { what, reason: why, code, facts: {} }
}
