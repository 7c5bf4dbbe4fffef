import { expect, test } from 'bun:test'
import type { UsageRow, UsageSums } from '../../lib/api-types.gen.ts'

// The API client reads the URL of the page when it is loaded.
Object.assign(globalThis, { document: { baseURI: 'http://test/console/' } })
const { exportOf } = await import('./api.ts')
const { biggestOf, totalsOf } = await import('./totals.ts')

const none: UsageSums = {
  requests: 0,
  failed: 0,
  cut: 0,
  estimated: 0,
  input_fresh_tokens: 0,
  input_cached_tokens: 0,
  cache_write_tokens: 0,
  output_text_tokens: 0,
  output_reasoning_tokens: 0,
  input_image_tokens: 0,
  output_image_tokens: 0,
  images: 0,
  video_seconds: 0,
  charged_nano_usd: '0',
  first_event_p50_ms: null,
  first_event_p95_ms: null,
}
const row = (group: string, charged: string): UsageRow => ({
  ...none,
  time: '2026-01-01T00:00:00Z',
  group,
  name: group,
  requests: 1,
  charged_nano_usd: charged,
})

test('the groups of a table add up to the last nano-dollar, the dearest first', () => {
  const rows = [row('a', '1'), row('b', '9007199254740993'), row('a', '2'), row('b', '9007199254740993')]
  expect(totalsOf(rows).map(({ group, charged, requests }) => [group, charged, requests])).toEqual([
    ['b', 18_014_398_509_481_986n, 2],
    ['a', 3n, 2],
  ])
})

test('a chart has the groups of which there is most in what it shows, and none of which there is nothing', () => {
  const rows = [
    { ...row('dear', '9'), failed: 1 },
    { ...row('busy', '1'), requests: 5 },
    { ...row('busy', '1'), requests: 5, failed: 3 },
  ]
  expect(biggestOf(rows, 'cost').map(({ group }) => group)).toEqual(['dear', 'busy'])
  expect(biggestOf(rows, 'requests').map(({ group }) => group)).toEqual(['busy', 'dear'])
  expect(biggestOf(rows, 'errors').map(({ group }) => group)).toEqual(['busy', 'dear'])
  expect(biggestOf(rows, 'input')).toEqual([])
})

test('groups of the same name are told apart by their ids', () => {
  const rows = ['key_1', 'key_2', 'key_3'].map((key, at) => ({ ...row(key, '1'), name: at < 2 ? 'prod' : 'bot' }))
  expect(totalsOf(rows).map(({ name }) => name)).toEqual(['prod key_1', 'prod key_2', 'bot'])
})

test('what is exported is what is shown', () => {
  const asked = { range: '24h', step: 'hour', by: 'key', model: 'a/b', zone: 'utc' } as const
  const url = new URL(exportOf('acct_1', asked, 'csv'))
  expect(url.pathname).toBe('/admin/v1/accounts/acct_1/usage')
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    step: 'hour',
    by: 'key',
    model: 'a/b',
    time_zone: 'UTC',
    format: 'csv',
  })
})
