import { refuse, type ErrorFields, type JsonReply } from './reply.ts'
import type { Voice } from './route.ts'

/** A vendor's error for each status on demand. Other statuses use the error of 400 or 500. */
const COMPLAINTS: Readonly<Record<number, ErrorFields>> = {
  401: { message: 'Incorrect API key provided.', code: 'invalid_api_key' },
  402: { message: 'Your account has no credit left.', code: 'insufficient_quota', type: 'insufficient_quota' },
  403: { message: 'You are not allowed to sample from this model.', code: 'model_not_allowed' },
  404: {
    message: 'The model does not exist or you do not have access to it.',
    code: 'model_not_found',
    param: 'model',
  },
  408: { message: 'The request timed out.', code: 'request_timeout' },
  409: { message: 'The resource is in use by another request.', code: 'conflict', type: 'conflict_error' },
  413: { message: 'The request is too large.', code: 'request_too_large' },
  429: { message: 'Rate limit reached.', code: 'rate_limit_exceeded', type: 'requests' },
  502: { message: 'Bad gateway.', code: null, type: 'server_error' },
  503: { message: 'The engine is overloaded.', code: 'server_is_overloaded', type: 'service_unavailable_error' },
  504: { message: 'Gateway timeout.', code: null, type: 'server_error' },
}
const BAD_REQUEST: ErrorFields = { message: 'Your request could not be processed.', code: null }

/** Also the error of an `errorEvent` in the middle of a stream. */
export const SERVER_ERROR: ErrorFields = {
  message: 'The server had an error while processing your request. Sorry about that!',
  code: 'server_error',
  type: 'server_error',
}

export function failWith(status: number, retryAfterSeconds: number | undefined, voice: Voice = { refuse }): JsonReply {
  const complaint = COMPLAINTS[status] ?? (status < 500 ? BAD_REQUEST : SERVER_ERROR)
  if (retryAfterSeconds === undefined) return voice.refuse(status, complaint)
  const message = `${complaint.message} Please try again in ${retryAfterSeconds}s.`
  const reply = voice.refuse(status, { ...complaint, message }, retryAfterSeconds)
  return { ...reply, headers: { 'retry-after': String(retryAfterSeconds) } }
}
