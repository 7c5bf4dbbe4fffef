/** Price cards as operations show them: exact decimal dollars per million tokens. */
import { formatUsd } from '../domain/money.ts'
import type { PriceCard, UnitPrices } from '../domain/price.ts'

const unitsView = (prices: UnitPrices): object => ({
  input_usd_per_million: formatUsd(prices.inputFresh),
  cached_input_usd_per_million: formatUsd(prices.inputCached),
  cache_write_usd_per_million: formatUsd(prices.cacheWrite5m),
  cache_write_1h_usd_per_million: formatUsd(prices.cacheWrite1h),
  output_usd_per_million: formatUsd(prices.outputText),
})

export const priceView = ({ id, effectiveFromMs, nanoPerMillion, tiers = [] }: PriceCard): object => ({
  card: id,
  effective_from: new Date(effectiveFromMs).toISOString(),
  ...unitsView(nanoPerMillion),
  /** What holds instead for requests with more input tokens. */
  tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...unitsView(tier.nanoPerMillion) })),
})
