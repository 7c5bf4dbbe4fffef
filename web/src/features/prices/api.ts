import type { Bodies, PriceImport, RoutedModel } from '../../lib/api-types.gen.ts'
import { api } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

/** The same answer as on the page of models and routes. */
export const soldQuery = (wanted: { readonly q?: string }) => listQuery<RoutedModel>('routed', 'models', wanted)

export type WantedPrices = Bodies['POST /price-imports']
export const importPrices = (wanted: WantedPrices): Promise<PriceImport> => api.post('price-imports', wanted)
