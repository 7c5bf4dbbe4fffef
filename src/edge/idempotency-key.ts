import { createHash } from 'node:crypto'
import type { Failure } from '../domain/failure.ts'
import type { IdempotencyKey } from '../records/idempotency.ts'

/** Printable ASCII of a length that fits a header. */
const KEY = /^[\x20-\x7e]{1,255}$/

/** Reads the `Idempotency-Key` of a request, with a digest of the request. Undefined without the header. */
export function readIdempotencyKey(
  header: string | undefined,
  path: string,
  body: string,
): IdempotencyKey | Failure | undefined {
  if (header === undefined) return undefined
  if (!KEY.test(header)) {
    return { kind: 'invalid_value', message: 'Idempotency-Key must be 1 to 255 printable ASCII characters.' }
  }
  return { key: header, fingerprint: createHash('sha256').update(`${path}\n`).update(body).digest() }
}
