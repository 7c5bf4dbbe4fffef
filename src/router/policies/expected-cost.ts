/** What offers are expected to cost for a request. */
import type { Offer } from '../../domain/catalog.ts'
import { formatUsd } from '../../domain/money.ts'
import type { PriceCard, UnitPrices } from '../../domain/price.ts'
import { ModelSignals, roughTokens } from '../signals.ts'
import { usualRequest } from './expected-time.ts'
import { isWarm, type RankingInput } from './policy.ts'

/** Vendors cache no shorter prompt (OpenAI, Anthropic for most models, 2026-11). */
const CACHED_TOKENS_MIN = 1_024
const MILLION = 1_000_000

type ExpectedTokens = { readonly input: number; readonly cached: number; readonly output: number }

/** The tokens of a request at an offer. What the model usually answers stands for the output that is not known yet. */
function expectedTokens(offer: Offer, input: RankingInput): ExpectedTokens {
  const { request = usualRequest, signals, warm } = input
  const tokens = roughTokens(request)
  const usual = signals?.model(offer.modelId)?.usualOutputTokens ?? NO_SIGNALS.usualOutputTokens
  const output = Math.min(request.outputTokensMax ?? usual, usual) * request.choices
  const cached = warm && isWarm(offer, input) ? Math.min(tokens, warm.inputTokens) : 0
  return { input: tokens, cached: cached < CACHED_TOKENS_MIN ? 0 : cached, output }
}

const NO_SIGNALS = new ModelSignals()

/** The expected cost in nano-USD. It is for comparison only: a request is charged by `priceOf`. */
export function expectedCost(offer: Offer, input: RankingInput): number {
  const { input: tokens, cached, output } = expectedTokens(offer, input)
  const prices = pricesAt(offer.cost, tokens)
  const fresh = (tokens - cached) * Number(prices.inputFresh)
  return (
    (fresh + cached * Number(prices.inputCached) + output * Number(prices.outputText)) / MILLION + pieceCost(prices)
  )
}

function pricesAt({ nanoPerMillion, tiers }: PriceCard, inputTokens: number): UnitPrices {
  const tier = tiers?.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens)
  return tier?.nanoPerMillion ?? nanoPerMillion
}

/** Work that is sold by the piece is compared by its dearest piece: every request for it makes at least one. */
function pieceCost(prices: UnitPrices): number {
  let dearest = 0n
  for (const unit in prices) {
    const price = unit.startsWith('piece:') ? prices[unit as keyof UnitPrices] : undefined
    if (price !== undefined && price > dearest) dearest = price
  }
  return Number(dearest) / MILLION
}

/** For operators: what the expected cost is made of. */
export function costReason(offer: Offer, input: RankingInput): string {
  const { input: tokens, cached, output } = expectedTokens(offer, input)
  const cost = formatUsd(BigInt(Math.round(expectedCost(offer, input))))
  const warm = cached === 0 ? '' : ` (${cached} of them cached)`
  return `costs about $${cost} for ${tokens} input tokens${warm} and ${Math.round(output)} output tokens`
}
