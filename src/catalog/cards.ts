/** Price cards as rows. Each price has its unit and the name of its tier. */
import type { PriceCard, PriceTier, UnitPrices } from '../domain/price.ts'
import type { UsageBucket } from '../domain/usage.ts'
import type { Row } from '../store/statement.ts'

/**
 * A card and its subject: a model, for what customers pay, an offer, for what it costs, or a model in an account, for
 * what this one customer pays (see `account-prices.ts`).
 */
export type DatedCard = {
  readonly subject: 'model' | 'offer' | 'account'
  readonly subjectId: string
  readonly card: PriceCard
}

const BASE = 'standard'
const TIER = /^above:(\d+)$/

/** The rows of a card: tier, unit and price. */
export function priceRows(
  prices: UnitPrices,
  tiers: readonly PriceTier[] = [],
): (readonly [tier: string, unit: string, price: bigint])[] {
  const rowsOf = (tier: string, units: UnitPrices) =>
    Object.entries(units).map(([unit, price]) => [tier, unit, price] as const)
  return [
    ...rowsOf(BASE, prices),
    ...tiers.flatMap(({ aboveInputTokens, nanoPerMillion }) => rowsOf(`above:${aboveInputTokens}`, nanoPerMillion)),
  ]
}

type Prices = Record<UsageBucket, bigint>
type CardDraft = Omit<DatedCard, 'card'> & Pick<PriceCard, 'id' | 'effectiveFromMs'> & { tiers: Map<string, Prices> }

/** The cards in rows of prices, in the order of their first rows. */
export function readCards(rows: readonly Row[]): DatedCard[] {
  const gathered = new Map<bigint, CardDraft>()
  for (const row of rows) {
    const id = row['id'] as bigint
    const card = gathered.get(id) ?? {
      subject: row['subject'] as DatedCard['subject'],
      subjectId: row['subject_id'] as string,
      id: Number(id),
      effectiveFromMs: Number(row['effective_from']),
      tiers: new Map<string, Prices>(),
    }
    gathered.set(id, card)
    const tier = row['tier'] as string
    const prices = card.tiers.get(tier) ?? ({} as Prices)
    prices[row['unit'] as UsageBucket] = row['nano_per_million'] as bigint
    card.tiers.set(tier, prices)
  }
  return [...gathered.values()].map(({ subject, subjectId, ...card }) => {
    const read = cardOf(card)
    if (subject !== 'account') return { subject, subjectId, card: read }
    return { subject, subjectId, card: { ...read, accountId: subjectId.slice(0, subjectId.indexOf('/')) } }
  })
}

function cardOf({ id, effectiveFromMs, tiers }: Pick<CardDraft, 'id' | 'effectiveFromMs' | 'tiers'>): PriceCard {
  const longer = [...tiers].flatMap(([name, prices]) => {
    const above = TIER.exec(name)?.[1]
    return above === undefined ? [] : [{ aboveInputTokens: Number(above), nanoPerMillion: withImages(prices) }]
  })
  const nanoPerMillion = withImages(tiers.get(BASE) ?? ({} as Prices))
  if (longer.length === 0) return { id, effectiveFromMs, nanoPerMillion }
  return {
    id,
    effectiveFromMs,
    nanoPerMillion,
    tiers: longer.toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens),
  }
}

/** Fills in the image prices. Old cards have none of their own. */
function withImages(prices: Prices): UnitPrices {
  return {
    ...prices,
    inputImage: prices.inputImage ?? prices.inputFresh,
    outputImage: prices.outputImage ?? prices.outputText,
  }
}

/** Whether a card has exactly these prices. */
export function saysSame(
  { nanoPerMillion, tiers }: PriceCard,
  prices: UnitPrices,
  others?: readonly PriceTier[],
): boolean {
  const [one, other] = [priceRows(nanoPerMillion, tiers), priceRows(prices, others)].map(
    (rows) => new Map(rows.map(([tier, unit, price]) => [`${tier} ${unit}`, price])),
  )
  return one?.size === other?.size && [...(one ?? [])].every(([unit, price]) => other?.get(unit) === price)
}
