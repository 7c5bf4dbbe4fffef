import { expect, test } from 'bun:test'
import type { UpstreamFailure } from '../domain/failure.ts'
import { imageModality } from '../modalities/image.ts'
import { textModality } from '../modalities/text.ts'
import { waitForSame } from './same-offer.ts'

const waitOf = (failure: Partial<UpstreamFailure>, { isUnbilled } = textModality): number | undefined =>
  waitForSame({ failure: { kind: 'server', message: '', isQuoted: true, ...failure }, isUnbilled, random: () => 0.5 })

test('a passing failure is retried once, after the wait that the vendor asks for and a random moment', () => {
  for (const status of [500, 502, 503, 529]) expect(waitOf({ status })).toBe(400)
  expect(waitOf({ kind: 'overload' })).toBe(400)
  expect(waitOf({ kind: 'timeout', status: 408 })).toBe(400)
  expect(waitOf({ kind: 'rate', status: 429, retryAfterMs: 2_000 })).toBe(2_400)
  expect(waitOf({ kind: 'overload', status: 503, retryAfterMs: 1_000 })).toBe(1_400)
})

test('a failure is not retried if the wait, or whether there is an answer, is unknown', () => {
  expect(waitOf({ kind: 'rate', status: 429 })).toBeUndefined()
  expect(waitOf({ kind: 'rate', status: 429, retryAfterMs: 30_000 })).toBeUndefined()
  expect(waitOf({ kind: 'overload', status: 503, retryAfterMs: 30_000 })).toBeUndefined()
  for (const status of [504, 524, 501]) expect(waitOf({ status })).toBeUndefined()
  for (const kind of ['auth', 'funds', 'model_gone', 'bad_request', 'context_length', 'policy'] as const)
    expect(waitOf({ kind, status: 500 })).toBeUndefined()
  // These are our own failures: a broken connection and a silence.
  for (const kind of ['network', 'unreachable', 'timeout', 'garbage', 'unread'] as const)
    expect(
      waitForSame({ failure: { kind, message: '' }, isUnbilled: textModality.isUnbilled, random: Math.random }),
    ).toBeUndefined()
})

test('an image may have been made despite a failure, so only a failure before the start is retried', () => {
  for (const status of [429, 503, 529]) expect(waitOf({ kind: 'overload', status }, imageModality)).toBe(400)
  for (const status of [500, 502]) expect(waitOf({ status }, imageModality)).toBeUndefined()
  expect(waitOf({ kind: 'overload' }, imageModality)).toBeUndefined()
})
