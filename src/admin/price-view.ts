/** Price cards as operations show them: exact decimal dollars per million tokens. */
import { formatUsd } from '../domain/money.ts'
import type { PriceCard, UnitPrices } from '../domain/price.ts'
import { unitName, type Loss } from '../domain/below-cost.ts'

const unitsView = (prices: UnitPrices): object => ({
  input_usd_per_million: formatUsd(prices.inputFresh),
  cached_input_usd_per_million: formatUsd(prices.inputCached),
  cache_write_usd_per_million: formatUsd(prices.cacheWrite5m),
  cache_write_1h_usd_per_million: formatUsd(prices.cacheWrite1h),
  output_usd_per_million: formatUsd(prices.outputText),
  image_input_usd_per_million: formatUsd(prices.inputImage),
  image_output_usd_per_million: formatUsd(prices.outputImage),
  /** By the name after `piece:`. The prices of a card are per million of anything. */
  each_usd: Object.fromEntries(
    Object.entries(prices)
      .filter(([unit]) => unit.startsWith('piece:'))
      .map(([unit, price]) => [unit.slice('piece:'.length), formatUsd(price / 1_000_000n)]),
  ),
})

export const priceView = ({ id, effectiveFromMs, nanoPerMillion, tiers = [] }: PriceCard): object => ({
  card: id,
  effective_from: new Date(effectiveFromMs).toISOString(),
  ...unitsView(nanoPerMillion),
  /** The prices of requests with more input tokens. */
  tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...unitsView(tier.nanoPerMillion) })),
})

/** Dollars for a million tokens, or for one piece. */
export const lossView = ({ unit, aboveInputTokens, sale, cost }: Loss): object => {
  const per = unit.startsWith('piece:') ? 1_000_000n : 1n
  return {
    unit: unitName(unit),
    above_input_tokens: aboveInputTokens ?? null,
    sale_usd: formatUsd(sale / per),
    cost_usd: formatUsd(cost / per),
  }
}
