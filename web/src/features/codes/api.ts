import type { Answers, Bodies, Code } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

export type Batch = Answers['POST /codes']
export type CodeDraft = Bodies['POST /codes']

export const codesQuery = (wanted: { readonly q?: string; readonly state?: string }) =>
  listQuery<Code>('codes', 'codes', wanted)
export const makeCodes = (draft: CodeDraft): Promise<Batch> => api.post('codes', draft)
export const voidCode = (id: string): Promise<Code> => api.remove(path`codes/${id}`)
