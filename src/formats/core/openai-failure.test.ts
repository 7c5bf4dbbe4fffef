import { failureForClient } from '../../domain/failure-policy.ts'
import { expect, test } from 'bun:test'
import { chatFailures, writeFailure } from './openai-failure.ts'

const kindOf = (status: number, body: unknown): string =>
  chatFailures.response(status, new Map(), typeof body === 'string' ? body : JSON.stringify(body)).kind
const error = (message: string, rest: object = {}): object => ({ error: { message, ...rest } })

test('a wrong key is recognised by the beginning of a message or by its code', () => {
  for (const message of [
    'Incorrect API key provided: sk-x. You can obtain an API key from …',
    'Invalid API key.',
    'API key not valid. Please pass a valid API key.',
    'Your API key is expired',
    'No api_key passed',
  ]) {
    expect([message, kindOf(400, error(message))]).toEqual([message, 'auth'])
  }
  expect(kindOf(400, error('Nope', { code: 'invalid_api_key' }))).toBe('auth')
})

test('a message that quotes the request is not about our key', () => {
  for (const message of [
    "Invalid value: 'my api key'. Supported values are: 'low', 'high'.",
    "Invalid 'api key': no such field.",
    'Unrecognized request argument supplied: api_key',
    "'api key' is not one of ['low', 'high'] - 'reasoning_effort'",
  ]) {
    expect([message, kindOf(400, error(message))]).toEqual([message, 'bad_request'])
  }
})

test('a 404 is the offer’s fault, unless it names something that the request named', () => {
  expect(kindOf(404, { detail: 'Not Found' })).toBe('model_gone')
  expect(kindOf(404, '<html>404</html>')).toBe('model_gone')
  expect(kindOf(404, error('Invalid URL (POST /v1/responses)', { type: 'invalid_request_error' }))).toBe('model_gone')
  expect(kindOf(404, error('The model `x` does not exist', { code: 'model_not_found', param: 'model' }))).toBe(
    'model_gone',
  )
  expect(kindOf(404, error('No such File object: file-1', { param: 'file' }))).toBe('bad_request')
  expect(kindOf(404, error('Prompt with id pmpt_1 not found'))).toBe('bad_request')
})

test('a Retry-After of a year is not passed on', () => {
  const waitOf = (headers: readonly [string, string][]): number | undefined =>
    chatFailures.response(429, new Map(headers), '').retryAfterMs
  expect(waitOf([['retry-after', '31536000']])).toBe(300_000)
  expect(waitOf([['retry-after-ms', '99999999999']])).toBe(300_000)
  expect(waitOf([['retry-after', '7']])).toBe(7_000)
  const inMs = (ms: number): string => new Date(Date.now() + ms).toUTCString()
  expect(waitOf([['retry-after', inMs(60_000)]])).toBeWithin(50_000, 60_001)
  expect(waitOf([['retry-after', inMs(-60_000)]])).toBe(0)
  expect(waitOf([['retry-after', inMs(3_600_000)]])).toBe(300_000)
  expect(
    waitOf([
      ['retry-after-ms', 'soon'],
      ['retry-after', '-1'],
    ]),
  ).toBeUndefined()
})

test('a request too large for a vendor keeps the vendor’s message and code', () => {
  const told = (body: object): object => {
    const { status, body: written } = writeFailure(
      failureForClient(chatFailures.response(413, new Map(), JSON.stringify(body))),
    )
    return { status, ...(JSON.parse(written) as { error: object }).error }
  }
  expect(told(error('At most 20 MB.'))).toMatchObject({
    status: 413,
    code: 'request_too_large',
    message: 'At most 20 MB.',
  })
  expect(told(error('Too long.', { code: 'context_length_exceeded' }))).toMatchObject({
    status: 400,
    code: 'context_length_exceeded',
    message: 'Too long.',
  })
})

test('complaints of a schema are shown as text, with their places', () => {
  const messageOf = (body: object): string => chatFailures.response(422, new Map(), JSON.stringify(body)).message
  const detail = [
    { type: 'extra_forbidden', loc: ['body', 'user'], msg: 'Extra inputs are not permitted', input: 'u' },
    { type: 'missing', loc: ['body', 'messages', 0, 'content'], msg: 'Field required' },
  ]
  const words = 'user: Extra inputs are not permitted; messages.0.content: Field required'
  expect(messageOf({ object: 'error', message: { detail }, type: 'invalid_request_error', code: null })).toBe(words)
  expect(messageOf({ detail })).toBe(words)
  expect(messageOf({ object: 'error', message: detail })).toBe(words)
  expect(messageOf({ detail: 'Not today.' })).toBe('Not today.')
  expect(messageOf({ error: { message: { detail: {} } } })).toBe('the upstream answered 422')
  expect(messageOf({ detail: Array.from({ length: 5_000 }, () => ({ msg: 'x' })) })).toBe('x; '.repeat(10).slice(0, -2))
})

test('Cloudflare lists its errors', () => {
  const body = {
    success: false,
    errors: [{ code: 10000, message: 'Authentication error' }],
    messages: [],
    result: null,
  }
  expect(chatFailures.response(403, new Map(), JSON.stringify(body))).toMatchObject({
    kind: 'auth',
    code: '10000',
    message: 'Authentication error',
  })
})
