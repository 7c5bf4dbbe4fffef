import { expect, test } from 'bun:test'
import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { durationText, rateHeaders } from './rate-headers.ts'

test('for each unit, the key or account with less left counts, in any order', () => {
  const use = (requestsPerMinute: number, tokensPerMinute?: number) => ({
    limits: { requestsPerMinute, ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }) },
    use: { requests: new TokenBucket(), tokens: new TokenBucket() },
  })
  for (const uses of [
    [use(100, 500), use(10)],
    [use(10), use(100, 500)],
  ]) {
    expect(rateHeaders(uses, 0, { kept: '1' })).toEqual({
      kept: '1',
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '10',
      'x-ratelimit-reset-requests': '0ms',
      'x-ratelimit-limit-tokens': '500',
      'x-ratelimit-remaining-tokens': '500',
      'x-ratelimit-reset-tokens': '0ms',
    })
  }
})

test('durations have the form of Go', () => {
  expect([0, 12.2, 999, 1_000, 7_500, 60_000, 92_040].map(durationText)).toEqual([
    '0ms',
    '13ms',
    '999ms',
    '1s',
    '7.5s',
    '1m0s',
    '1m32.1s',
  ])
})
