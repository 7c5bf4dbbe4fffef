import { queryOptions } from '@tanstack/react-query'
import type { Answers, Bodies, Provider, ProviderTest } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

export type ProviderDraft = Bodies['PATCH /providers/{provider}']

export const providersQuery = (wanted: { readonly q?: string }) => listQuery<Provider>('providers', 'providers', wanted)
export const providerQuery = (id: string) =>
  queryOptions({
    queryKey: ['provider', id],
    queryFn: () => api.get<Provider>(path`providers/${id}`),
    refetchInterval: 15_000,
  })
export const presetsQuery = queryOptions({
  queryKey: ['presets'],
  queryFn: () => api.get<Answers['GET /presets']>('presets'),
  staleTime: Number.POSITIVE_INFINITY,
})
export const addProvider = (id: string, draft: ProviderDraft): Promise<Provider> =>
  api.post('providers', { id, ...draft })
export const changeProvider = (id: string, draft: ProviderDraft): Promise<Provider> =>
  api.patch(path`providers/${id}`, draft)
export const addProviderKey = (id: string, draft: Bodies['POST /providers/{provider}/keys']): Promise<Provider> =>
  api.post(path`providers/${id}/keys`, draft)
export const removeProviderKey = (id: string, key: string): Promise<Provider> =>
  api.remove(path`providers/${id}/keys/${key}`)
export const testProvider = (id: string): Promise<ProviderTest> => api.post(path`providers/${id}/test`)
export const resumeProvider = (id: string): Promise<Answers['POST /providers/{provider}/resume']> =>
  api.post(path`providers/${id}/resume`)
export const setState = (id: string, state: Provider['state']): Promise<Provider> =>
  api.put(path`providers/${id}/state`, { state })
export const removeProvider = (id: string): Promise<unknown> => api.remove(path`providers/${id}`)
