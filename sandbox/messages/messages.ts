import { complain } from '../complaint.ts'
import { findModel } from '../models.ts'
import { refuse, type ErrorFields, type ErrorDialect, type SandboxReply } from '../reply.ts'
import type { SandboxCall, VendorRoute } from '../route.ts'
import { answerOf } from './answer.ts'
import { PromptCache } from './prompt-cache.ts'
import { countRequest, messagesRequest } from './request.ts'
import { conflictOfMarks, messagesConflict } from './rules.ts'
import { messagesFrames, messageBody } from './writing.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

/** The routes of Anthropic's Messages, with their own prompt cache. */
export function messagesRoutes(): readonly VendorRoute[] {
  const cache = new PromptCache()
  const kind = 'vendor'
  const method = 'POST'
  return [
    { kind, method, path: '/v1/messages', answer: (call) => answerMessages(call, cache), errors: messagesErrors },
    { kind, method, path: '/v1/messages/count_tokens', answer: countTokens, errors: messagesErrors },
  ]
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** Anthropic's error envelope. */
const messagesErrors: ErrorDialect = {
  event: 'error',
  envelope: ({ message }: ErrorFields, status: number) => {
    const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
    return { type: 'error', error: { type, message }, request_id: null }
  },
}

const NO_VERSION: ErrorFields = { message: 'anthropic-version: header is required', code: 'missing_required_parameter' }

/** `POST /v1/messages` */
function answerMessages({ body, faults, headers }: SandboxCall, cache: PromptCache): SandboxReply {
  if (headers?.has('anthropic-version') === false) return refuse(400, NO_VERSION)
  const parsed = safeParse(messagesRequest, body, { reportInput: true })
  if (!parsed.success) return refuse(400, complain(parsed.error))
  const request = parsed.data
  const model = findModel(request.model)
  if (!model) return refuseModel(request.model)
  const conflict = messagesConflict(request)
  if (conflict) return refuse(400, conflict)
  const input = cache.count(request)
  const inputTokens = input.fresh + input.read + input.written
  const tokensLeft = model.contextTokensMax - inputTokens
  if (tokensLeft < 1) return refuseLength(inputTokens, model.contextTokensMax)
  const answer = answerOf(request, { input, tokensLeft, faults })
  if (!request.stream) return { kind: 'json', status: 200, body: messageBody(answer) }
  return { kind: 'stream', frames: messagesFrames(answer) }
}

/** `POST /v1/messages/count_tokens` */
function countTokens({ body }: SandboxCall): SandboxReply {
  const parsed = safeParse(countRequest, body, { reportInput: true })
  if (!parsed.success) return refuse(400, complain(parsed.error))
  if (!findModel(parsed.data.model)) return refuseModel(parsed.data.model)
  const conflict = conflictOfMarks(parsed.data)
  if (conflict) return refuse(400, conflict)
  const { fresh, read, written } = new PromptCache().count(parsed.data)
  return { kind: 'json', status: 200, body: { input_tokens: fresh + read + written } }
}

function refuseModel(id: string): SandboxReply {
  return refuse(404, { message: `model: ${id}`, code: 'model_not_found' })
}

function refuseLength(inputTokens: number, contextTokensMax: number): SandboxReply {
  const message = `prompt is too long: ${inputTokens} tokens > ${contextTokensMax} maximum`
  return refuse(400, { message, code: null })
}
