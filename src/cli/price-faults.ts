/** Describes faults in the prices of a model: a sale below cost, or no price. */
import { usd } from './table.ts'

/** Dollars for a million tokens, or for one piece. */
export type BelowCost = {
  readonly unit: string
  readonly above_input_tokens: number | null
  readonly sale_usd: string
  readonly cost_usd: string
}

/** `input above 271999 tokens $3.00, cost $5.00` */
export function lossText({ unit, above_input_tokens: above, sale_usd: sale, cost_usd: cost }: BelowCost): string {
  const where = above === null ? '' : ` above ${above} tokens`
  return `${unit.replaceAll('_', ' ')}${where} ${usd(sale)}, cost ${usd(cost)}`
}

/** `paint has no price for 1024x1024/high, 1536x1024/low` */
export const gapText = (id: string, unpriced: readonly string[]): string =>
  `${id} has no price for ${unpriced.join(', ')}`

type OfferLosses = { readonly provider: string; readonly model: string; readonly below_cost: readonly BelowCost[] }

/** A warning line for each offer that costs more than the sale price. Undefined if none does. */
export function lossWarning(id: string, offers: readonly OfferLosses[]): string | undefined {
  const lines = offers
    .filter(({ below_cost: losses }) => losses.length > 0)
    .map(({ provider, model, below_cost: losses }) => {
      const said = losses.map(lossText).join('; ')
      return `Warning: ${id} is sold below the cost of ${provider}/${model}: ${said}`
    })
  return lines.length === 0 ? undefined : lines.join('\n')
}
