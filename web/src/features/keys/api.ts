import { queryOptions } from '@tanstack/react-query'
import type { ApiKey, Bodies, NewApiKey } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

/** The fields of a change. A new key without a list has all models. */
export type KeyDraft = Bodies['PATCH /accounts/{account}/keys/{key}'] & { readonly name: string }

export const keysQuery = (account: string, wanted: { readonly q?: string; readonly status?: ApiKey['status'] }) =>
  listQuery<ApiKey>('keys', path`accounts/${account}/keys`, wanted)

export const keyQuery = (account: string, id: string) =>
  queryOptions({ queryKey: ['key', id], queryFn: () => api.get<ApiKey>(path`accounts/${account}/keys/${id}`) })

export const createKey = (account: string, { models, ...draft }: KeyDraft): Promise<NewApiKey> =>
  api.post(path`accounts/${account}/keys`, { ...draft, ...(models ? { models } : {}) })

export const changeKey = (account: string, id: string, draft: KeyDraft): Promise<ApiKey> =>
  api.patch(path`accounts/${account}/keys/${id}`, draft)

export const revokeKey = (account: string, id: string): Promise<ApiKey> =>
  api.remove(path`accounts/${account}/keys/${id}`)
