import { expect, test } from 'bun:test'
import { maskedAddress } from './masked-address.ts'

test.each([
  ['https://me:pw@host/v1', 'https://[secret]@host/v1'],
  ['https://token@host:8443/v1', 'https://[secret]@host:8443/v1'],
  ['https:me:pw@host/v1', 'https://[secret]@host/v1'],
  ['https:\\\\me:pw@host', 'https://[secret]@host/'],
  ['https://host/v1?a=pw&b=pw#pw', 'https://host/v1?a=[secret]&b=[secret]#[secret]'],
  ['https://host/v1?pw&c=pw', 'https://host/v1?[secret]&c=[secret]'],
  ['https://host/v1?a=b=pw', 'https://host/v1?a=[secret]'],
  ['https://me:p/w@host/v1', 'https://[secret]@host/v1'],
  ['https://me:pw@host:99999/v1?k=pw', 'https://[secret]@host:99999/v1?k=[secret]'],
  ['see https://me:pw@host', 'see https://[secret]@host'],
])('%s', (text, masked) => {
  expect(maskedAddress(text)).toBe(masked)
})

test.each([
  'https://api.example.com/v1',
  'https://host/v1/models@latest',
  'why: paid? a=b',
  'model:name',
  'me@example.com',
  'a?b=c',
])('%s stays', (text) => {
  expect(maskedAddress(text)).toBe(text)
})

test.each(['/', '://', '//@', '?', 'a://'])('a megabyte of %s takes linear time', (part) => {
  const startedMs = performance.now()
  maskedAddress(part.repeat(1_000_000 / part.length))
  maskedAddress(`${part.repeat(1_000_000 / part.length)} `)
  expect(performance.now() - startedMs).toBeLessThan(1_000)
})
