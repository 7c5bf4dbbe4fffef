/** Requests as the API lists them. */
import type { RequestRow } from './api-types.gen.ts'

export type Outcome = RequestRow['outcome']
export const outcomes = ['completed', 'failed', 'cut', 'client_closed', 'barred'] as const satisfies readonly Outcome[]
