import type { ErrorFields, JsonReply } from '../reply.ts'

/** The status names that Google's APIs use for HTTP statuses. */
const NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** Google's error envelope. */
export function refuseAsGemini(status: number, { message }: ErrorFields, retryAfterSeconds?: number): JsonReply {
  const name = NAMES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  const details =
    retryAfterSeconds === undefined
      ? {}
      : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }] }
  return { kind: 'json', status, body: { error: { code: status, message, status: name, ...details } } }
}
