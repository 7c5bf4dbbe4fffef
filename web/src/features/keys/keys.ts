import { queryOptions } from '@tanstack/react-query'
import type { Limits } from '../../lib/accounts.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

export type ApiKey = {
  readonly id: string
  readonly name: string
  /** `sk-tg-…WXYZ` */
  readonly key: string
  readonly status: 'active' | 'revoked'
  readonly models: readonly string[] | null
  readonly limits: Limits
  readonly spent_today_nano_usd: string
  readonly spent_this_month_nano_usd: string
  readonly held_nano_usd: string
  readonly last_used_at: string | null
  readonly created_at: string
  readonly revoked_at: string | null
}
export type NewKey = ApiKey & { readonly secret: string }
export type KeyDraft = { readonly name: string; readonly models?: readonly string[] | null; readonly limits?: Limits }

export const keysQuery = (account: string, wanted: { readonly q?: string; readonly status?: ApiKey['status'] }) =>
  listQuery<ApiKey>('keys', path`accounts/${account}/keys`, wanted)

export const keyQuery = (account: string, id: string) =>
  queryOptions({ queryKey: ['key', id], queryFn: () => api.get<ApiKey>(path`accounts/${account}/keys/${id}`) })

export const createKey = (account: string, { models, ...draft }: KeyDraft): Promise<NewKey> =>
  api.post(path`accounts/${account}/keys`, { ...draft, ...(models ? { models } : {}) })

export const changeKey = (account: string, id: string, draft: KeyDraft): Promise<ApiKey> =>
  api.patch(path`accounts/${account}/keys/${id}`, draft)

export const revokeKey = (account: string, id: string): Promise<ApiKey> =>
  api.remove(path`accounts/${account}/keys/${id}`)
