/** Filters and orders the offers of a model by the hints of a request. It is pure. */
import { lossesOf } from '../domain/below-cost.ts'
import type { Model, Offer } from '../domain/catalog.ts'
import type { NanoUsd } from '../domain/money.ts'
import { dearest, type PriceCard } from '../domain/price.ts'
import { policyOfSort, sortOfVariant, type MaxPrice, type ProviderHints } from '../domain/routing-hints.ts'
import type { PolicyName } from '../domain/routing.ts'

/** The policy that a request asks for: by `sort`, or by the suffix of the model's name. */
export function askedPolicy({ sort }: ProviderHints, name: string): PolicyName | undefined {
  const asked = sort ?? sortOfVariant(name)
  return asked && policyOfSort[asked]
}

const isNamed = (names: readonly string[], { providerId }: Pick<Offer, 'providerId'>): boolean =>
  names.includes(providerId.toLowerCase())

/** Units of which nearly every request of a model that counts them has some. */
const usualUnits: ReadonlySet<string> = new Set(['inputFresh', 'outputText', 'outputImage'])

/**
 * Whether an offer costs more than the account pays. The operator may have it for the time when others fail. A request
 * cannot choose it, or its client would decide about the operator's losses.
 */
export const isLosing =
  ({ kind, sale }: Pick<Model, 'kind' | 'sale'>) =>
  ({ cost }: Pick<Offer, 'cost'>): boolean =>
    lossesOf(kind, sale, cost).some(
      ({ unit, aboveInputTokens }) =>
        aboveInputTokens === undefined && (usualUnits.has(unit) || unit.startsWith('piece:')),
    )

type JudgesOffer = (offer: Offer) => boolean

/** The member of `provider` that leaves a model without an offer. */
export type EmptiedBy = 'only' | 'ignore' | 'order'

/** The offers that the hints allow, or the hint that allows none, or only such as a request cannot choose. */
export function allowedOffers(
  offers: readonly Offer[],
  { order, only, ignore, allowsFallbacks }: ProviderHints,
  isLoss: JudgesOffer,
): readonly Offer[] | EmptiedBy {
  // Not the fault of a hint.
  if (offers.length === 0) return offers
  const canChoose = offers.some((offer) => offer.state !== 'drained' && !isLoss(offer))
  const isEmpty = (left: readonly Offer[]): boolean => (canChoose ? left.every(isLoss) : left.length === 0)
  const listed = only === undefined ? offers : offers.filter((offer) => isNamed(only, offer))
  if (isEmpty(listed)) return 'only'
  const kept = ignore.length === 0 ? listed : listed.filter((offer) => !isNamed(ignore, offer))
  if (isEmpty(kept)) return 'ignore'
  if (allowsFallbacks || order.length === 0) return kept
  const ordered = kept.filter((offer) => isNamed(order, offer))
  return isEmpty(ordered) ? 'order' : ordered
}

/**
 * The plan in the order of `order`, with the other offers behind. Resting offers stay last, because a provider that has
 * just failed is no good first choice. Offers that cost more than the account pays come right before them. Without
 * fall-backs and without `order`, only the first is left.
 */
export function orderedPlan(
  plan: readonly Offer[],
  { order, allowsFallbacks }: ProviderHints,
  { isResting, isLoss }: { readonly isResting: JudgesOffer; readonly isLoss: JudgesOffer },
): readonly Offer[] {
  const rankOf = (offer: Offer): number => (isResting(offer) ? 2 : isLoss(offer) ? 1 : 0)
  if (order.length === 0) {
    const ranked = plan.toSorted((a, b) => rankOf(a) - rankOf(b))
    return allowsFallbacks ? ranked : ranked.slice(0, 1)
  }
  const placeOf = ({ providerId }: Offer): number => {
    const at = order.indexOf(providerId.toLowerCase())
    return at < 0 ? order.length : at
  }
  return plan.toSorted((a, b) => rankOf(a) - rankOf(b) || placeOf(a) - placeOf(b))
}

type Prices = Readonly<Record<keyof MaxPrice, NanoUsd>>

/** Nano-USD per million tokens, or for an image. The dearest tier counts that so many input tokens can reach. */
export function dearestPrices(sale: PriceCard, inputTokensMax: number): Prices {
  const pieces = Object.entries(sale.nanoPerMillion).filter(([unit]) => unit.startsWith('piece:image'))
  return {
    prompt: dearest(sale, inputTokensMax, ['inputFresh']),
    completion: dearest(sale, inputTokensMax, ['outputText', 'outputReasoning']),
    image: pieces.reduce((most, [, price]) => (price > most ? price : most), 0n) / 1_000_000n,
  }
}

/** The member of `max_price` that a price card exceeds, if one does. */
export function exceededPrice(sale: PriceCard, most: MaxPrice, inputTokensMax: number): keyof MaxPrice | undefined {
  const prices = dearestPrices(sale, inputTokensMax)
  return (['prompt', 'completion', 'image'] as const).find((name) => prices[name] > (most[name] ?? prices[name]))
}

/** Models by what a million tokens in and out cost together, the cheapest first. Equal ones keep their order. */
export const cheapestFirst = <M extends { readonly model: Pick<Model, 'sale'> }>(
  models: readonly M[],
): readonly M[] => {
  const priceOf = ({ model }: M): bigint => {
    const { prompt, completion } = dearestPrices(model.sale, 0)
    return prompt + completion
  }
  return models.toSorted((a, b) => Number(priceOf(a) - priceOf(b)))
}
