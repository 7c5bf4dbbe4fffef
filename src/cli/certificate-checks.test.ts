import { expect, test } from 'bun:test'
import { DAY_MS } from '../lib/primitives/units.ts'
import { certificateChecks } from './certificate-checks.ts'
import type { CertificateFacts } from './program.ts'

const NOW_MS = Date.parse('2026-11-26T12:00:00Z')
const usable = {
  kind: 'usable',
  names: 'api.example.com',
  beginMs: NOW_MS - DAY_MS,
  endMs: NOW_MS + 60 * DAY_MS,
  keyFile: '/k.pem',
  keyMode: 0o600,
  coversPublicUrl: true,
} satisfies CertificateFacts

const publicUrl = 'https://api.example.com'
const statesOf = (certificate: CertificateFacts | undefined): readonly string[] =>
  certificateChecks({ certificate, publicUrl }, NOW_MS).map(({ state }) => state)

test.each<[string, CertificateFacts | undefined, readonly string[]]>([
  ['a port without TLS', undefined, []],
  ['a good certificate', usable, ['ok', 'ok']],
  ['files that cannot be used', { kind: 'unusable', message: 'no' }, ['fail']],
  ['one that expires in 13 days', { ...usable, endMs: NOW_MS + 13 * DAY_MS }, ['warn', 'ok']],
  ['one that has expired', { ...usable, endMs: NOW_MS }, ['fail', 'ok']],
  ['one that is not valid yet', { ...usable, beginMs: NOW_MS + 1 }, ['fail', 'ok']],
  ['one for another host', { ...usable, coversPublicUrl: false }, ['warn', 'ok']],
  ['a key that its group can read', { ...usable, keyMode: 0o640 }, ['ok', 'ok']],
  ['a key that all can read', { ...usable, keyMode: 0o644 }, ['ok', 'warn']],
  ['a key that its group can write', { ...usable, keyMode: 0o660 }, ['ok', 'warn']],
])('%s', (_, certificate, states) => expect(statesOf(certificate)).toEqual(states))
