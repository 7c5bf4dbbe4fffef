import { queryOptions } from '@tanstack/react-query'
import type { Origin } from '../../lib/accounts.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

export type Provider = {
  readonly id: string
  readonly preset: string
  readonly base_url: string
  readonly allow_private: boolean
  /** Null: as many as anywhere. */
  readonly concurrent_requests: number | null
  readonly has_key: boolean
  readonly origin: Origin
  readonly state: 'serving' | 'drained'
  readonly offers: number
  readonly resting_offers: number
  /** Null: none since the start, or since it was changed. */
  readonly last_test: {
    readonly ok: boolean
    readonly status: number | null
    readonly problem: string | null
    readonly at: string
  } | null
  readonly since_start: {
    readonly succeeded: number
    readonly failed: number
    readonly last_failure: {
      readonly result: string
      readonly status: number | null
      readonly message: string
      readonly at: string
    } | null
  }
}
export type Preset = {
  readonly id: string
  readonly label: string
  readonly base_url: string | null
  readonly key_variable: string | null
}
export type Tested = {
  readonly id: string
  readonly ok: boolean
  readonly status: number | null
  readonly took_ms: number
  readonly models: readonly string[]
  readonly problem: string | null
}
export type ProviderDraft = {
  readonly preset?: string
  /** Null: the preset's own. */
  readonly base_url?: string | null
  readonly allow_private?: boolean
  readonly concurrent_requests?: number | null
  /** Null: none. */
  readonly key?: string | null
}

export const providersQuery = (wanted: { readonly q?: string }) => listQuery<Provider>('providers', 'providers', wanted)
export const providerQuery = (id: string) =>
  queryOptions({
    queryKey: ['provider', id],
    queryFn: () => api.get<Provider>(path`providers/${id}`),
    refetchInterval: 15_000,
  })
export const presetsQuery = queryOptions({
  queryKey: ['presets'],
  queryFn: () => api.get<{ readonly data: readonly Preset[] }>('presets'),
  staleTime: Number.POSITIVE_INFINITY,
})
export const addProvider = (id: string, draft: ProviderDraft): Promise<Provider> =>
  api.post('providers', { id, ...draft })
export const changeProvider = (id: string, draft: ProviderDraft): Promise<Provider> =>
  api.patch(path`providers/${id}`, draft)
export const testProvider = (id: string): Promise<Tested> => api.post(path`providers/${id}/test`)
export const resumeProvider = (id: string): Promise<{ readonly resumed: number }> =>
  api.post(path`providers/${id}/resume`)
export const setState = (id: string, state: Provider['state']): Promise<Provider> =>
  api.put(path`providers/${id}/state`, { state })
export const removeProvider = (id: string): Promise<unknown> => api.remove(path`providers/${id}`)
