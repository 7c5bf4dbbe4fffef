/** A model as typed, and the part of it that is sent. */
import type { RoutedModel } from '../../lib/api-types.gen.ts'
import type { ModelKind } from '../../lib/models.ts'
import { limitDraftOf, limitsOf, noLimits, type LimitDraft } from './limit-draft.ts'
import { noPrice, priceDraftOf, pricesOf, type PriceDraft } from './price-draft.ts'

export type OfferDraft = {
  readonly provider: string
  readonly model: string
  readonly priority: string
  readonly weight: string
  /** Empty: as many tokens as the model. */
  readonly context: string
  readonly cost: PriceDraft
}
export type ModelDraft = {
  readonly id: string
  readonly kind: ModelKind
  readonly limits: LimitDraft
  readonly price: PriceDraft
  readonly offers: readonly OfferDraft[]
}

export function draftOf(before: RoutedModel | undefined): ModelDraft {
  if (!before) return { id: '', kind: 'text', limits: noLimits, price: noPrice, offers: [newOffer] }
  const { id, kind, price, offers } = before
  return {
    id,
    kind,
    limits: limitDraftOf(before),
    price: priceDraftOf(price, kind),
    offers: offers.map(({ provider, model, priority, weight, context_tokens: context, cost }) => ({
      provider,
      model,
      priority: String(priority),
      weight: String(weight),
      context: context === null ? '' : String(context),
      cost: priceDraftOf(cost, kind),
    })),
  }
}

export const newOffer: OfferDraft = { provider: '', model: '', priority: '0', weight: '1', context: '', cost: noPrice }

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** The cost is sent only if it was changed. Null: the list price. */
const offersOf = (offers: readonly OfferDraft[], before: readonly OfferDraft[]): readonly object[] =>
  offers.map(({ provider, model, priority, weight, context, cost }) => {
    const old = before.find((offer) => offer.provider === provider && offer.model === model.trim())
    const prices = old && isSame(old.cost, cost) ? undefined : (pricesOf(cost, old?.cost) ?? (old && null))
    return {
      provider,
      model: model.trim(),
      priority: Number(priority || 0),
      weight: Number(weight || 1),
      ...(context === '' ? old && { context_tokens: null } : { context_tokens: Number(context) }),
      ...(prices === undefined ? {} : { cost: prices }),
    }
  })

/** A new model, whole. */
export const modelOf = ({ id, kind, limits, price, offers }: ModelDraft): object => ({
  id: id.trim(),
  kind,
  ...limitsOf(limits, kind),
  price: pricesOf(price) ?? { input: '0', output: '0' },
  offers: offersOf(offers, []),
})

/** The changed fields. */
export function changesOf(before: ModelDraft, after: ModelDraft): object {
  const prices = isSame(before.price, after.price) ? undefined : pricesOf(after.price, before.price)
  return {
    ...limitsOf(after.limits, after.kind, before.limits),
    ...(prices && { price: prices }),
    offers: offersOf(after.offers, before.offers),
  }
}
