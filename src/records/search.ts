/** The rule for which requests a search finds. Every store follows it. */
import { idBound } from '../lib/primitives/ids.ts'
import type { RecordFilter, RequestRecord } from './records.ts'

/** The prefix of request ids. */
export const ID_PREFIX = 'req_'

/** Whether a search with this filter finds a record. */
export function fits(filter: RecordFilter, record: RequestRecord): boolean {
  const { keyId, model, endpoints, outcome, status, providerId, chargedMin, totalMsMin, fromMs, toMs } = filter
  const isWanted = (wanted: unknown, value: unknown): boolean => wanted === undefined || wanted === value
  return (
    isWanted(keyId, record.keyId) &&
    isWanted(model, record.model) &&
    (endpoints === undefined || endpoints.includes(record.endpoint)) &&
    isWanted(outcome, record.outcome) &&
    isWanted(status, record.status) &&
    isWanted(providerId, record.providerId) &&
    (chargedMin === undefined || record.charged >= chargedMin) &&
    (totalMsMin === undefined || Math.round(record.totalMs) >= totalMsMin) &&
    (fromMs === undefined || record.id >= idBound(ID_PREFIX, fromMs)) &&
    (toMs === undefined || record.id < idBound(ID_PREFIX, toMs))
  )
}
