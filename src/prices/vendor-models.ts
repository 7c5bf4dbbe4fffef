/** Vendors' models at their list prices, ready to be sold. */
import type { ModelDraft } from '../domain/catalog.ts'
import type { ModelLimits } from '../domain/model-limits.ts'
import { imageFamilies } from '../vendors/image-families.ts'
import { parseUsd } from '../domain/money.ts'
import { unitPrices, type PriceTier, type UnitPrices } from '../domain/price.ts'
import { markUp, markUpTiers, type MarkUp } from './mark-up.ts'
import { priceList, type ListedModel, type ListedPrices, type ListedTier, type PriceList } from './price-list.ts'

/** A model as its vendor lists it at a given time. */
export type VendorModel = {
  /** The vendor's own id, without the prefix that its API requires. */
  readonly id: string
  readonly upstreamModel: string
  readonly kind: 'text' | 'embedding' | 'image'
  readonly limits: Partial<ModelLimits>
  readonly cost: UnitPrices
  readonly costTiers: readonly PriceTier[]
  /** The day (UTC) from which the list has other prices. */
  readonly changesOn: string | undefined
}

function nano(dollars: string): bigint {
  const amount = parseUsd(dollars)
  if (amount === undefined) throw new Error(`the price list has '${dollars}' for a price`)
  return amount
}

const unitsOf = ({ input, output, cached, write, write1h, ...images }: ListedPrices | ListedTier): UnitPrices =>
  unitPrices({
    input: nano(input),
    output: nano(output ?? '0'),
    cachedInput: cached === undefined ? undefined : nano(cached),
    cacheWrite: write === undefined ? undefined : nano(write),
    cacheWrite1h: write1h === undefined ? undefined : nano(write1h),
    imageInput: images.imageInput === undefined ? undefined : nano(images.imageInput),
    imageOutput: images.imageOutput === undefined ? undefined : nano(images.imageOutput),
  })

function limitsOf(listed: ListedModel): Partial<ModelLimits> {
  const { dimensions, adjustable, context, output, reasoning, media, family } = listed
  return {
    ...(dimensions !== undefined && { dimensions }),
    ...(adjustable && { dimensionsAdjustable: true }),
    ...(context !== undefined && { contextTokens: context }),
    ...(output !== undefined && { outputTokensMax: output }),
    ...(reasoning === 'hidden' && { hidesReasoning: true }),
    ...(media && { mediaInput: media }),
    ...(family && { image: imageFamilies[family] }),
  }
}

/** All models that the list has for a preset at a given time. Empty if the list does not know the preset. */
export function vendorModels(preset: string, atMs: number, list: PriceList = priceList()): VendorModel[] {
  const vendor = list.vendors[preset]
  if (!vendor) return []
  const { upstreamPrefix = '', models } = vendor
  return Object.entries(models).flatMap(([id, model]) => {
    const fromMs = ({ from }: ListedPrices): number => (from === undefined ? -Infinity : Date.parse(from))
    const prices = model.prices.findLast((one) => fromMs(one) <= atMs)
    if (!prices) return []
    const costTiers = (prices.above ?? []).map((tier) => ({
      aboveInputTokens: tier.tokens,
      nanoPerMillion: unitsOf(tier),
    }))
    return {
      id,
      upstreamModel: upstreamPrefix + id,
      kind: model.kind ?? 'text',
      limits: limitsOf(model),
      cost: unitsOf(prices),
      costTiers,
      changesOn: model.prices.find((one) => fromMs(one) > atMs)?.from,
    }
  })
}

/** Whether the list has models of a preset. */
export const hasList = (preset: string): boolean => Object.hasOwn(priceList().vendors, preset)

/** A vendor's list price for a model at a given time, by its upstream name. Undefined if the list has none. */
export function listedCost(
  preset: string | undefined,
  upstreamModel: string,
  atMs: number,
): { readonly units: UnitPrices; readonly tiers: readonly PriceTier[] } | undefined {
  const model = preset === undefined ? undefined : vendorModels(preset, atMs).find(isNamed(upstreamModel))
  return model && { units: model.cost, tiers: model.costTiers }
}

const isNamed = (upstreamModel: string) => (model: VendorModel) => model.upstreamModel === upstreamModel

/** A draft of a model that is sold at its list price plus a mark-up, with one provider's offer. */
export const draftOf = (
  { upstreamModel, kind, limits, cost, costTiers }: VendorModel,
  { id, providerId, by }: { readonly id: string; readonly providerId: string; readonly by: MarkUp },
): ModelDraft => ({
  id,
  ownedBy: providerId,
  kind,
  limits,
  price: markUp(cost, by),
  priceTiers: markUpTiers(costTiers, by),
  offers: [{ providerId, upstreamModel, priority: 0, weight: 1, cost, costTiers }],
})

/** All models that the list has for a provider, with a prefix before their ids. */
export const modelsBehind = (
  prefix: string,
  { preset, providerId }: { readonly preset: string; readonly providerId: string },
  { atMs, by }: ImportStamp,
): ModelDraft[] => vendorModels(preset, atMs).map((model) => draftOf(model, { id: prefix + model.id, providerId, by }))

type ImportStamp = { readonly atMs: number; readonly by: MarkUp }

/**
 * The models that vendors' keys bring. Each has the vendor's id, or `vendor/id` if an earlier vendor has that id. Two
 * models with one name at two vendors may differ in version and precision, so they stay separate.
 */
export function modelsOfVendors(presets: readonly string[], { atMs, by }: ImportStamp): ModelDraft[] {
  const drafts = new Map<string, ModelDraft>()
  for (const preset of presets) {
    for (const model of vendorModels(preset, atMs)) {
      const id = drafts.has(model.id) ? `${preset}/${model.id}` : model.id
      drafts.set(id, draftOf(model, { id, providerId: preset, by }))
    }
  }
  return [...drafts.values()]
}
