/** Failures of the Converse format: error responses, and exceptions inside a stream. */
import type { UpstreamFailure, UpstreamFailureKind } from '../../domain/failure.ts'
import type { HeaderFields } from '../../lib/http/message-head.ts'
import { meaningOf } from '../../vendors/failure-meaning.ts'
import type { FailureReader } from '../core/contract.ts'
import { asFields, ownIn, parseFields, textIn, type Fields } from '../core/fields.ts'
import { retryAfter } from '../core/retry-after.ts'

/**
 * The exceptions of the service model (boto/botocore, 2026-08), and what Amazon says of credentials
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html, read on 2026-11-26, and
 * https://github.com/vercel/ai/issues/4163). Others are read by the status. The refusal of a request is read by its
 * words as well.
 */
const kinds: Readonly<Record<string, UpstreamFailureKind>> = {
  AccessDeniedException: 'auth',
  ExpiredTokenException: 'auth',
  IncompleteSignature: 'auth',
  InvalidClientTokenId: 'auth',
  InvalidSignatureException: 'auth',
  MissingAuthenticationTokenException: 'auth',
  NotAuthorized: 'auth',
  UnrecognizedClientException: 'auth',
  ThrottlingException: 'rate',
  ServiceQuotaExceededException: 'rate',
  ModelNotReadyException: 'overload',
  ServiceUnavailable: 'overload',
  ServiceUnavailableException: 'overload',
  ModelTimeoutException: 'timeout',
  InternalFailure: 'server',
  InternalServerException: 'server',
  ModelErrorException: 'server',
  ModelStreamErrorException: 'server',
  ResourceNotFoundException: 'model_gone',
}
/** The model failed at this request, or made something that is no answer. Another request may succeed. */
const DOUBTFUL = /^Model(?:Stream)?ErrorException$/
/** As in the Messages format. Claude's words come through. */
const POLICY_WORDS = /content filtering policy|usage polic(?:y|ies)/i
/** The credential is valid, but not for this model. The other models of the provider go on. */
const ABOUT_MODEL = /access to the model|model access is denied|bedrock:InvokeModel|foundation-model|inference-profile/i

function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'funds'
  if (status === 404) return 'model_gone'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 413) return 'context_length'
  if (status === 429) return 'rate'
  if (status === 503) return 'overload'
  return status >= 400 && status < 500 && status !== 424 ? 'bad_request' : 'server'
}

/** The name of an exception: `com.amazon.coral.service#X`, `X:http://…`, or `x` as a member of a stream. */
function typeIn(name: string | undefined): string | undefined {
  const [, type = ''] = /^(?:.*#)?([A-Za-z]{1,64})(?::|$)/.exec(name ?? '') ?? []
  return type === '' ? undefined : (type[0] ?? '').toUpperCase() + type.slice(1)
}

function kindByWords(kind: UpstreamFailureKind, words: string): UpstreamFailureKind {
  if (kind === 'auth' && ABOUT_MODEL.test(words)) return 'model_gone'
  return kind === 'bad_request' && POLICY_WORDS.test(words) ? 'policy' : kind
}

type ErrorHead = { readonly status?: number | undefined; readonly type?: string | undefined }

/** Classifies an error by its type, its status and its words. A stream has no status. */
export function readConverseError(
  { status, type: name }: ErrorHead,
  body: Fields,
  retryAfterMs?: number,
): UpstreamFailure {
  const type = typeIn(name) ?? typeIn(textIn(body['__type'])) ?? typeIn(textIn(body['code']))
  const words = textIn(body['message']) ?? textIn(body['Message']) ?? ''
  const stated = ownIn(kinds, type ?? '') ?? kindOfStatus(status ?? (type === 'ValidationException' ? 400 : 500))
  const meaning = stated === 'bad_request' ? meaningOf({ codes: [], message: words }) : undefined
  const kind = meaning?.kind ?? kindByWords(stated, words)
  return {
    kind,
    ...meaning,
    message: words.slice(0, 1_000) || `the upstream answered ${type ?? status ?? 'with an error'}`,
    isQuoted: true,
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : kind === 'bad_request' ? { type } : { code: type, type }),
    ...(DOUBTFUL.test(type ?? '') ? { isDoubtful: true } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** A body with status 200 that is an error of Amazon's front end. */
function hiddenIn(body: Fields): UpstreamFailure | undefined {
  const output = asFields(body['Output'])
  const type = textIn(output['__type']) ?? textIn(body['__type'])
  const isError = type !== undefined || (textIn(body['message']) !== undefined && body['output'] === undefined)
  return isError ? readConverseError({ type }, { ...body, ...output }) : undefined
}

export const converseFailures: FailureReader = {
  response: (status, headers: HeaderFields, body) =>
    readConverseError({ status, type: headers.get('x-amzn-errortype') }, parseFields(body) ?? {}, retryAfter(headers)),
  hidden: (text) => hiddenIn(parseFields(text) ?? {}),
}
