import { RETRY_AFTER_MS_MAX } from '../../domain/failure.ts'
import type { HeaderFields } from '../../lib/http/message-head.ts'

/** `retry-after-ms` comes before `retry-after`, which is in seconds or a date (RFC 9110, section 10.2.3). */
export function retryAfter(headers: HeaderFields): number | undefined {
  const after = headers.get('retry-after')
  const waits = [
    Number(headers.get('retry-after-ms') ?? Number.NaN),
    Number(after ?? Number.NaN) * 1000,
    after?.endsWith('GMT') ? Math.max(0, Date.parse(after) - Date.now()) : Number.NaN,
  ]
  const waitMs = waits.find((wait) => Number.isFinite(wait) && wait >= 0)
  return waitMs === undefined ? undefined : Math.min(waitMs, RETRY_AFTER_MS_MAX)
}
