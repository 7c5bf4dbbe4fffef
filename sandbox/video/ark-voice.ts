import type { ErrorFields, JsonReply } from '../reply.ts'
import type { Voice } from '../route.ts'

/** Ark's error names, by status and then by the sandbox's code. */
const NAMES: Readonly<Record<number, readonly [code: string, type: string]>> = {
  400: ['InvalidParameter', 'BadRequest'],
  401: ['AuthenticationError', 'Unauthorized'],
  402: ['AccountOverdueError', 'Forbidden'],
  403: ['AccountOverdueError', 'Forbidden'],
  404: ['ResourceNotFound', 'NotFound'],
  409: ['InvalidAction', 'Conflict'],
  429: ['ModelAccountRpmRateLimitExceeded', 'TooManyRequests'],
  503: ['ServerOverloaded', 'TooManyRequests'],
}
const WORDS: Readonly<Record<string, string>> = {
  missing_required_parameter: 'MissingParameter',
  no_such_model: 'InvalidEndpointOrModel.NotFound',
}

const codeOf = (status: number, { code }: ErrorFields): string =>
  WORDS[code ?? ''] ?? NAMES[status]?.[0] ?? (status < 500 ? 'InvalidParameter' : 'InternalServiceError')

/** Ark's error envelope. */
export function refuseAsArk(status: number, complaint: ErrorFields): JsonReply {
  const type = NAMES[status]?.[1] ?? (status < 500 ? 'BadRequest' : 'InternalServerError')
  const message = `${complaint.message} Request id: 0${Date.now()}`
  const error = { code: codeOf(status, complaint), message, param: complaint.param ?? '', type }
  return { kind: 'json', status, body: { error } }
}

/** AI MediaKit's error envelope. All its answers say whether they succeeded. */
export function refuseAsMediaKit(status: number, complaint: ErrorFields): JsonReply {
  const { message, param } = complaint
  const error = { code: codeOf(status, complaint), message, ...(param && { param }) }
  return { kind: 'json', status, body: { success: false, request_id: String(Date.now()), error } }
}

export const arkVoice: Voice = { refuse: refuseAsArk }
export const mediaKitVoice: Voice = { refuse: refuseAsMediaKit }
