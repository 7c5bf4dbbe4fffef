import { queryOptions } from '@tanstack/react-query'
import { wholeList } from './lists.ts'

/** The ids of all providers, for whoever chooses one. */
export const providerIdsQuery = queryOptions({
  queryKey: ['providers', 'ids'],
  queryFn: async () => (await wholeList<{ readonly id: string }>('providers')).map(({ id }) => id),
})
