/** Rows of the catalogue as what they say. */
import type { Alias, Model, ModelKind, Offer } from '../domain/catalog.ts'
import { defaultModelLimits, ratesOf, type ModelLimits } from '../domain/model-limits.ts'
import type { PriceCard } from '../domain/price.ts'
import type { Row } from '../store/statement.ts'
import { stateOf } from './provider-rows.ts'

export const offerOf = (row: Row, cost: PriceCard): Offer => ({
  id: row['id'] as string,
  modelId: row['model_id'] as string,
  providerId: row['provider_id'] as string,
  upstreamModel: row['upstream_model'] as string,
  priority: Number(row['priority']),
  weight: Number(row['weight']),
  contextTokens: row['context_tokens'] === null ? undefined : Number(row['context_tokens']),
  cost,
  state: stateOf(row),
})

/** What the row of a model does not have. */
type ModelParts = Pick<Model, 'sale' | 'offers' | 'aliases'> & {
  /** Whether a vendor's key brings a model of this id. */
  readonly isBrought: boolean
  /** Whether a declared model of this id is for the first account alone. */
  readonly isReserved: boolean
}

export function modelOf(row: Row, { sale, offers, aliases, isBrought, isReserved }: ModelParts): Model {
  const isDeclared = row['declared'] === 1n
  const limits = { ...defaultModelLimits, ...(JSON.parse(row['limits'] as string) as Partial<ModelLimits>) }
  return {
    id: row['id'] as string,
    ownedBy: row['owned_by'] as string,
    createdAtMs: Number(row['created_at']),
    kind: row['kind'] as ModelKind,
    limits,
    rates: ratesOf(limits),
    origin: !isDeclared ? 'stored' : isBrought ? 'environment' : 'declared',
    sale,
    offers,
    audience: isDeclared && isReserved ? 'first_account' : undefined,
    aliases,
  }
}

export const aliasOf = (row: Row): Alias => ({
  id: row['id'] as string,
  modelId: row['model_id'] as string,
  origin: row['declared'] === 1n ? 'declared' : 'stored',
})
