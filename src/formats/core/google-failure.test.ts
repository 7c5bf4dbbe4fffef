/** Every row of the table of Google's errors, and every failure of ours in Google's envelope. */
import { expect, test } from 'bun:test'
import { geminiFailures, writeGeminiFailure } from './google-failure.ts'

const type = (name: string): string => `type.googleapis.com/google.rpc.${name}`
const read = (http: number, error: object, headers: Record<string, string> = {}) =>
  geminiFailures.response(http, new Map(Object.entries(headers)), JSON.stringify({ error: { code: http, ...error } }))
const quota = (quotaId: string): object => ({ details: [{ '@type': type('QuotaFailure'), violations: [{ quotaId }] }] })

test.each([
  [400, { message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' }, 'auth'],
  [400, { message: 'x', details: [{ '@type': type('ErrorInfo'), reason: 'API_KEY_INVALID' }] }, 'auth'],
  [400, { message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' }, 'auth'],
  [400, { message: 'Please enable billing on project', status: 'FAILED_PRECONDITION' }, 'funds'],
  [400, { message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).' }, 'context_length'],
  [400, { message: 'Invalid value at contents', status: 'INVALID_ARGUMENT' }, 'bad_request'],
  [401, { status: 'UNAUTHENTICATED' }, 'auth'],
  [402, {}, 'funds'],
  [403, { status: 'PERMISSION_DENIED', message: 'x' }, 'auth'],
  [403, { message: 'This API method requires billing to be enabled.' }, 'funds'],
  [404, { status: 'NOT_FOUND', message: 'models/x is not found for API version v1beta' }, 'model_gone'],
  [404, { status: 'NOT_FOUND', message: 'File files/abc not found' }, 'bad_request'],
  [408, {}, 'timeout'],
  [413, {}, 'context_length'],
  [429, { status: 'RESOURCE_EXHAUSTED', ...quota('GenerateRequestsPerMinutePerProjectPerModel') }, 'rate'],
  [429, { status: 'RESOURCE_EXHAUSTED', ...quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier') }, 'funds'],
  [429, { message: 'Your prepayment credits are depleted.' }, 'funds'],
  [499, { status: 'CANCELLED' }, 'server'],
  [500, { status: 'INTERNAL' }, 'server'],
  [503, { status: 'UNAVAILABLE' }, 'overload'],
  [504, { status: 'DEADLINE_EXCEEDED' }, 'server'],
] as const)('%d %j is %s', (http, error, kind) => {
  expect(read(http, error).kind).toBe(kind)
})

test('the delay comes from the header or from RetryInfo', () => {
  const retry = { details: [{ '@type': type('RetryInfo'), retryDelay: '34.4s' }] }
  expect(read(429, retry).retryAfterMs).toBe(34_400)
  expect(read(429, retry, { 'retry-after': '2' }).retryAfterMs).toBe(2_000)
  expect(read(429, retry, { 'retry-after': '2', 'retry-after-ms': '70' }).retryAfterMs).toBe(70)
})

test('errors in a list, in a 200 or in HTML are read', () => {
  const error = { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED' }
  expect(geminiFailures.hidden(JSON.stringify([{ error }]))).toMatchObject({ kind: 'rate', code: 'RESOURCE_EXHAUSTED' })
  expect(geminiFailures.hidden('{"candidates":[]}')).toBeUndefined()
  expect(geminiFailures.response(502, new Map(), '<html>')).toMatchObject({
    kind: 'server',
    message: 'the upstream answered 502',
  })
})

test('a failure is written in the envelope with the headers that control a retry', () => {
  const { status, code, body, headers } = writeGeminiFailure({
    kind: 'rate_limited',
    message: 'Slow down.',
    param: 'contents',
    retryAfterMs: 1_500,
  })
  expect([status, code, headers]).toEqual([429, 'rate_limit_exceeded', { 'retry-after': '2' }])
  expect(JSON.parse(body)).toEqual({
    error: {
      code: 429,
      message: 'Slow down.',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': type('ErrorInfo'), reason: 'RATE_LIMIT_EXCEEDED', domain: 'tollgate' },
        { '@type': type('BadRequest'), fieldViolations: [{ field: 'contents', description: 'Slow down.' }] },
        { '@type': type('RetryInfo'), retryDelay: '2s' },
      ],
    },
  })
  expect(writeGeminiFailure({ kind: 'insufficient_balance', message: 'x', shouldRetry: false })).toMatchObject({
    status: 402,
    headers: { 'x-should-retry': 'false' },
  })
})
