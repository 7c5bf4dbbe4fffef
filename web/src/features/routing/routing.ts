import { queryOptions } from '@tanstack/react-query'
import type { Origin } from '../../lib/accounts.ts'
import { api, path, type Page } from '../../lib/api.ts'
import { nanoOf, typedDollars } from '../../lib/money.ts'
import type { ModelFacts, PriceCard } from '../../lib/models.ts'

export type Offer = {
  readonly provider: string
  readonly model: string
  readonly priority: number
  readonly weight: number
  readonly state: 'ready' | 'resting' | 'drained'
  readonly resting_until: string | null
  readonly cost: PriceCard
  readonly margin: { readonly input_percent: number | null; readonly output_percent: number | null }
}
export type RoutedModel = ModelFacts & { readonly origin: Origin; readonly offers: readonly Offer[] }

export type Explanation = {
  readonly model: string
  readonly admitted: boolean
  readonly reason: string
  readonly steps: readonly {
    readonly provider: string
    readonly model: string
    readonly verdict: 'first' | 'next' | 'last_resort' | 'skipped'
    readonly share_percent: number
    readonly reason: string
  }[]
}

export const routedQuery = (q: string | undefined) =>
  queryOptions({ queryKey: ['routed', q], queryFn: () => api.get<Page<RoutedModel>>('models', { limit: 200, q }) })

export const routedModelQuery = (id: string) =>
  queryOptions({ queryKey: ['routed-model', id], queryFn: () => api.get<RoutedModel>(path`models/${id}`) })

export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: ['price-history', id],
    queryFn: () =>
      api.get<{ readonly data: readonly (PriceCard & { readonly of: string })[] }>(path`models/${id}/prices`),
  })

export const explain = (id: string, asked: { account?: string; key?: string }): Promise<Explanation> =>
  api.post(path`models/${id}/explain`, asked)

/** Prices as they are typed: dollars per million tokens. */
export type PriceDraft = { readonly input: string; readonly output: string; readonly cached: string }
export type OfferDraft = {
  readonly provider: string
  readonly model: string
  readonly priority: string
  readonly weight: string
  readonly cost: PriceDraft
}
export type ModelDraft = {
  readonly id: string
  readonly kind: 'text' | 'embedding'
  readonly outputMax: string
  readonly price: PriceDraft
  readonly offers: readonly OfferDraft[]
}

const nanoText = (typed: string): string => nanoOf(typedDollars(typed) ?? '0').toString()

/** Undefined where nothing is said: then it follows from the model's. */
function pricesOf({ input, output, cached }: PriceDraft): object | undefined {
  if (input.trim() === '' && output.trim() === '') return undefined
  return {
    input: nanoText(input),
    output: nanoText(output || '0'),
    ...(cached.trim() === '' ? {} : { cached_input: nanoText(cached) }),
  }
}

export const isPrice = (typed: string): boolean => typed.trim() === '' || typedDollars(typed) !== undefined

const offersOf = (offers: readonly OfferDraft[]): readonly object[] =>
  offers.map(({ provider, model, priority, weight, cost }) => {
    const prices = pricesOf(cost)
    return {
      provider,
      model: model.trim(),
      priority: Number(priority || 0),
      weight: Number(weight || 1),
      ...(prices && { cost: prices }),
    }
  })

export const addModel = ({ id, kind, outputMax, price, offers }: ModelDraft): Promise<RoutedModel> =>
  api.post('models', {
    id: id.trim(),
    kind,
    ...(outputMax.trim() === '' ? {} : { output_tokens_max: Number(outputMax) }),
    price: pricesOf(price) ?? { input: '0', output: '0' },
    offers: offersOf(offers),
  })

export const changeModel = (
  id: string,
  { price, offers }: Pick<ModelDraft, 'price' | 'offers'>,
): Promise<RoutedModel> => {
  const prices = pricesOf(price)
  return api.patch(path`models/${id}`, { ...(prices && { price: prices }), offers: offersOf(offers) })
}
export const removeModel = (id: string): Promise<unknown> => api.remove(path`models/${id}`)
