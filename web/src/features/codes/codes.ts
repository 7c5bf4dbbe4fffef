import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, path, type Page } from '../../lib/api.ts'

export type Code = {
  readonly id: string
  readonly batch: string
  readonly code: string
  readonly amount_nano_usd: string
  readonly note: string
  readonly state: 'open' | 'redeemed' | 'voided' | 'expired'
  readonly created_at: string
  readonly expires_at: string | null
  readonly redeemed_at: string | null
  readonly redeemed_by: string | null
}
export type Batch = { readonly id: string; readonly codes: readonly { readonly id: string; readonly code: string }[] }
export type CodeDraft = {
  readonly count: number
  readonly amount_nano_usd: string
  readonly note?: string
  readonly expires_at?: string
}

export const codesQuery = infiniteQueryOptions({
  queryKey: ['codes'],
  queryFn: ({ pageParam: cursor }) => api.get<Page<Code>>('codes', { cursor, limit: 100 }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
})
export const makeCodes = (draft: CodeDraft): Promise<Batch> => api.post('codes', draft)
export const voidCode = (id: string): Promise<Code> => api.remove(path`codes/${id}`)
