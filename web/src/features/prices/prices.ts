import type { Origin } from '../../lib/accounts.ts'
import { api } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'
import type { Facts } from '../../lib/i18n/said.ts'
import type { Loss, Margin, ModelFacts, PriceCard } from '../../lib/models.ts'

type Offer = {
  readonly provider: string
  readonly model: string
  readonly cost: PriceCard
  readonly margin: Margin
  readonly below_cost: readonly Loss[]
}
export type SoldModel = ModelFacts & { readonly origin: Origin; readonly offers: readonly Offer[] }

/** The same answer as the page of models and routes has. */
export const soldQuery = (wanted: { readonly q?: string }) => listQuery<SoldModel>('routed', 'models', wanted)

export type Wanted = { readonly provider?: string; readonly markup?: string; readonly approved?: string }
export type About = {
  readonly kind: 'origin' | 'sale' | 'cost' | 'limit'
  readonly name: string
  readonly offer: string | null
  readonly above_input_tokens: number | null
}
/** `about` says as data what `what` says in English. */
export type Difference = {
  readonly what: string
  readonly about: About
  readonly before: string | null
  readonly after: string
}
export type Import = {
  readonly source: unknown
  readonly markup: string
  readonly changes: readonly {
    readonly model: string
    readonly kind: 'new' | 'changed'
    readonly differences: readonly Difference[]
  }[]
  readonly unchanged: number
  readonly skipped: readonly {
    readonly what: string
    readonly reason: string
    readonly code: string
    readonly facts: Facts
  }[]
  readonly changing: readonly { readonly model: string; readonly on: string }[]
  readonly fingerprint: string
  readonly applied: boolean
}
export const importPrices = (wanted: Wanted): Promise<Import> => api.post('price-imports', wanted)
