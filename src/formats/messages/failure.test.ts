import { expect, test } from 'bun:test'
import type { UpstreamFailureKind } from '../../domain/failure.ts'
import { messagesFailures, readMessagesError, writeMessagesFailure } from './failure.ts'

const body = (type: string, message = 'm', details?: object): string =>
  JSON.stringify({ type: 'error', error: { type, message, ...(details ? { details } : {}) }, request_id: 'req_1' })
const none = new Map<string, string>()

const rows: [number, string, string, UpstreamFailureKind, string?][] = [
  [400, 'invalid_request_error', 'messages.0: bad', 'bad_request'],
  [413, 'request_too_large', 'Request exceeds the maximum size', 'context_length'],
  [404, 'not_found_error', 'model: claude-none', 'model_gone'],
  [404, 'not_found_error', 'Not Found', 'model_gone'],
  [404, 'not_found_error', 'File not found: file_1', 'bad_request'],
  [400, 'invalid_request_error', 'Invalid API key provided', 'auth'],
  [400, 'invalid_request_error', "metadata.user_id: 'my api key' is invalid", 'bad_request'],
  [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 'context_length'],
  [400, 'invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 3', 'context_length'],
  [400, 'invalid_request_error', 'Output blocked by content filtering policy', 'policy'],
  [401, 'authentication_error', 'invalid x-api-key', 'auth'],
  [403, 'permission_error', 'denied', 'auth'],
  [402, 'billing_error', 'pay', 'funds'],
  [400, 'billing_error', 'pay', 'funds'],
  [400, 'invalid_request_error', 'Your credit balance is too low to access the API', 'funds'],
  [429, 'rate_limit_error', 'slow down', 'rate'],
  [429, 'rate_limit_error', 'slow down', 'funds', 'enforced_spend_limit_reached'],
  [429, 'rate_limit_error', 'slow down', 'funds', 'contract_spend_limit_reached'],
  [429, 'rate_limit_error', 'slow down', 'funds', 'ramp_limit_exceeded'],
  [400, 'invalid_request_error', 'on hold', 'funds', 'organization_on_hold'],
  [500, 'api_error', 'oh', 'server'],
  [503, 'api_error', 'oh', 'overload'],
  [504, 'timeout_error', 'late', 'timeout'],
  [529, 'overloaded_error', 'Overloaded', 'overload'],
  [409, 'conflict_error', 'busy', 'server'],
  [418, 'something_new', 'tea', 'bad_request'],
]

test('every error of the vendor has its kind', () => {
  for (const [status, type, message, kind, code] of rows) {
    const details = code === undefined ? undefined : { error_code: code }
    const read = messagesFailures.response(status, none, body(type, message, details))
    expect(`${status} ${type} ${message}: ${read.kind}`).toBe(`${status} ${type} ${message}: ${kind}`)
    expect(read).toMatchObject({ status, message })
  }
})

test('a proxy’s HTML is read by its status', () => {
  const kindOf = (status: number): string => messagesFailures.response(status, none, '<html>').kind
  expect([502, 503, 504, 429, 401, 404].map(kindOf)).toEqual('server overload timeout rate auth model_gone'.split(' '))
})

test('an error in a stream has no status and is read by its type', () => {
  const kindOf = (type: string): string => readMessagesError(undefined, JSON.parse(body(type))).kind
  expect(kindOf('overloaded_error')).toBe('overload')
  expect(kindOf('api_error')).toBe('server')
  expect(kindOf('rate_limit_error')).toBe('rate')
  expect(kindOf('invalid_request_error')).toBe('bad_request')
  expect(kindOf('something_new')).toBe('server')
})

test('an error with status 200 is an error, and retry-after is read', () => {
  expect(messagesFailures.hidden(body('overloaded_error'))).toMatchObject({ kind: 'overload' })
  expect(messagesFailures.hidden('{"type":"message"}')).toBeUndefined()
  expect(messagesFailures.hidden('nonsense')).toBeUndefined()
  const headers = new Map([['retry-after', '7']])
  expect(messagesFailures.response(429, headers, body('rate_limit_error'))).toMatchObject({ retryAfterMs: 7_000 })
})

test('a type is a code for the operator, but not for a client whose request was bad', () => {
  expect(readMessagesError(529, JSON.parse(body('overloaded_error')))).toMatchObject({ code: 'overloaded_error' })
  expect(readMessagesError(400, JSON.parse(body('invalid_request_error')))).not.toHaveProperty('code')
})

test('failures are written in the envelope of the dialect, with the gateway’s code beside the type', () => {
  const written = writeMessagesFailure(
    { kind: 'insufficient_balance', message: 'no money', shouldRetry: false },
    'req_abc',
  )
  expect([written.status, written.code]).toEqual([402, 'insufficient_balance'])
  expect(written.headers).toEqual({ 'x-should-retry': 'false' })
  expect(JSON.parse(written.body)).toEqual({
    type: 'error',
    error: { type: 'billing_error', message: 'no money', details: { error_code: 'insufficient_balance' } },
    request_id: 'req_abc',
  })
  const limited = writeMessagesFailure({ kind: 'rate_limited', message: 'slow', retryAfterMs: 1_200 })
  expect([limited.status, limited.headers['retry-after']]).toEqual([429, '2'])
  expect(JSON.parse(limited.body)).toMatchObject({ request_id: null })
})

test('a type named like an inherited member is read by the status', () => {
  for (const type of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']) {
    const failure = readMessagesError(400, JSON.parse(body(type)) as unknown)
    expect([type, failure.kind]).toEqual([type, 'bad_request'])
  }
})
