import { queryOptions } from '@tanstack/react-query'
import { api, type Page } from './api.ts'

/** The ids of all providers, for whoever chooses one: of the list that their page shows. */
export const providerIdsQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: () => api.get<Page<{ readonly id: string }>>('providers', { limit: 200 }),
  select: ({ data }) => data.map(({ id }) => id),
})
