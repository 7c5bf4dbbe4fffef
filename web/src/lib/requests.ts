/** Requests as the API lists them. */
export type Outcome = 'completed' | 'failed' | 'cut' | 'client_closed' | 'barred'
export const outcomes = ['completed', 'failed', 'cut', 'client_closed', 'barred'] as const satisfies readonly Outcome[]
export const endpoints = [
  'chat.completions',
  'responses',
  'messages',
  'gemini',
  'embeddings',
  'images.generations',
  'images.edits',
  'videos',
] as const

export type RequestRow = {
  readonly id: string
  readonly created_at: string
  readonly endpoint: string
  readonly model: string
  readonly key: { readonly id: string; readonly name: string }
  readonly stream: boolean
  readonly status: number
  readonly outcome: Outcome
  readonly error_code: string | null
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly images: number
  readonly usage_source: 'reported' | 'estimated' | null
  readonly charged_nano_usd: string
  readonly held_nano_usd: string
  readonly first_event_ms: number | null
  readonly total_ms: number
  readonly attempts: number
  readonly provider?: string | null
}
