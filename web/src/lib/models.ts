/** The models that an account may use, with their sale prices. */
import { queryOptions } from '@tanstack/react-query'
import type { Model, PriceTier } from './api-types.gen.ts'
import { path } from './api.ts'
import { kinds } from './i18n/kinds.ts'
import { listQuery, wholeList } from './lists.ts'
import { MINUTE_MS } from './units.ts'

export type ModelKind = Model['kind']
export const modelKinds = Object.keys(kinds satisfies Readonly<Record<ModelKind, object>>) as readonly ModelKind[]
/** Nano-dollars per million tokens. `each`: nano-dollars per piece. */
export type UnitPrices = Omit<PriceTier, 'above_input_tokens'>

export type ModelFilter = { readonly kind?: string; readonly q?: string }

export const modelsQuery = (account: string, wanted: ModelFilter) =>
  listQuery<Model>('models', path`accounts/${account}/models`, wanted)

/** All models of a kind with their options. */
export const modelsOfKindQuery = (account: string, kind: ModelKind) =>
  queryOptions({
    queryKey: ['models', account, kind],
    queryFn: () => wholeList<Model>(path`accounts/${account}/models`, { kind }),
    staleTime: MINUTE_MS,
  })
