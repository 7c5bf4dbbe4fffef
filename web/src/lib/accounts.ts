/** An account as the API shows it. */
import { queryOptions } from '@tanstack/react-query'
import type { Account } from './api-types.gen.ts'
import { api, path } from './api.ts'

export const accountQuery = (id: string) =>
  queryOptions({ queryKey: ['account', id], queryFn: () => api.get<Account>(path`accounts/${id}`), staleTime: 5_000 })
