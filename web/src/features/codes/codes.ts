import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

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

export const codesQuery = (wanted: { readonly q?: string; readonly state?: string }) =>
  listQuery<Code>('codes', 'codes', wanted)
export const makeCodes = (draft: CodeDraft): Promise<Batch> => api.post('codes', draft)
export const voidCode = (id: string): Promise<Code> => api.remove(path`codes/${id}`)
