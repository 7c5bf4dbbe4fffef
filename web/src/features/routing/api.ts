import { queryOptions } from '@tanstack/react-query'
import type { Answers, Bodies, Explanation, RoutedModel } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'
import { changesOf, modelOf, type ModelDraft } from './model-draft.ts'

export const routedQuery = (wanted: { readonly q?: string }) => listQuery<RoutedModel>('routed', 'models', wanted)

export const routedModelQuery = (id: string) =>
  queryOptions({ queryKey: ['routed-model', id], queryFn: () => api.get<RoutedModel>(path`models/${id}`) })

export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: ['price-history', id],
    queryFn: () => api.get<Answers['GET /models/{model}/prices']>(path`models/${id}/prices`),
  })

export const payersQuery = (id: string) =>
  queryOptions({
    queryKey: ['payers', id],
    queryFn: () => api.get<Answers['GET /models/{model}/account-prices']>(path`models/${id}/account-prices`),
  })

export const explain = (id: string, asked: Bodies['POST /models/{model}/explain']): Promise<Explanation> =>
  api.post(path`models/${id}/explain`, asked)

export const familiesQuery = queryOptions({
  queryKey: ['presets'],
  queryFn: () => api.get<Answers['GET /presets']>('presets'),
  staleTime: Number.POSITIVE_INFINITY,
})

export const addModel = (draft: ModelDraft): Promise<RoutedModel> => api.post('models', modelOf(draft))
export const changeModel = (before: ModelDraft, after: ModelDraft): Promise<RoutedModel> =>
  api.patch(path`models/${before.id}`, changesOf(before, after))
export const setAlias = (alias: string, model: string): Promise<unknown> => api.put(path`aliases/${alias}`, { model })
export const removeAlias = (alias: string): Promise<unknown> => api.remove(path`aliases/${alias}`)
export const removeModel = (id: string): Promise<unknown> => api.remove(path`models/${id}`)
