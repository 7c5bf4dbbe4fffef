/** The models that an account may use, with their sale prices. */
import { queryOptions } from '@tanstack/react-query'
import { api, path, type Page } from './api.ts'

export type ModelKind = 'text' | 'embedding' | 'image' | 'video'
export type Model = {
  readonly id: string
  readonly kind: ModelKind
}

export const modelsQuery = (account: string) =>
  queryOptions({
    queryKey: ['models', account],
    queryFn: () => api.get<Page<Model>>(path`accounts/${account}/models`, { limit: 200 }),
    staleTime: 60_000,
  })
