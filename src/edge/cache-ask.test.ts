import { expect, test } from 'bun:test'
import type { ServerExchange } from '../inbound/exchange.ts'
import { readCacheAsk } from './cache-ask.ts'

const ask = (header?: string) =>
  readCacheAsk(
    {
      head: { path: '/v1/chat/completions' },
      header: (name: string) => (name === 'x-tollgate-cache' ? header : undefined),
    } as unknown as ServerExchange,
    '{}',
  )

test('a client says what it wants of the answer cache, and how old an answer may be', () => {
  expect(ask()).toMatchObject({ wish: 'unasked', ageMsMax: undefined, path: '/v1/chat/completions', body: '{}' })
  expect(ask('on')).toMatchObject({ wish: 'on', ageMsMax: undefined })
  expect(ask('on;ttl=1')).toMatchObject({ wish: 'on', ageMsMax: 1_000 })
  expect(ask('refresh ; ttl=999999999')).toMatchObject({ wish: 'refresh', ageMsMax: 999_999_999_000 })
  expect(ask('off')).toMatchObject({ wish: 'off' })
})

test('any other value is refused by name', () => {
  for (const header of ['', 'On', 'yes', 'on; ttl=0', 'on; ttl=-1', 'on; ttl=1e9', 'on; ttl=9999999999', 'on, off']) {
    expect([header, ask(header)]).toMatchObject([header, { kind: 'invalid_value' }])
  }
})
