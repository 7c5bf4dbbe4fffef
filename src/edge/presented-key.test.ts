import { expect, test } from 'bun:test'
import type { ServerExchange } from '../inbound/exchange.ts'
import { presentedKey } from './presented-key.ts'

const from = (authorization: string): string | undefined =>
  presentedKey({
    header: (name: string) => (name === 'authorization' ? authorization : undefined),
    head: { query: '' },
  } as unknown as ServerExchange)

test.each(['Bearer KEY', 'bearer KEY', 'BEARER   KEY', 'Bearer KEY '])('%j presents a key', (header) => {
  expect(from(header)).toBe('KEY')
})

test.each([
  'Bearer KEY junk',
  'Bearer KEY, Bearer KEY',
  'Bearer KEY,',
  'Bearer "KEY"',
  'Bearer',
  'Bearer ',
  'Basic KEY',
  'BearerKEY',
])('%j does not present KEY', (header) => expect(from(header)).not.toBe('KEY'))
