import { queryOptions } from '@tanstack/react-query'
import type { Provider } from './api-types.gen.ts'
import { wholeList } from './lists.ts'

/** The ids of all providers, for choosing one. */
export const providerIdsQuery = queryOptions({
  queryKey: ['providers', 'ids'],
  queryFn: async () => (await wholeList<Provider>('providers')).map(({ id }) => id),
})
