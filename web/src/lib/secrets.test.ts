import { expect, test } from 'bun:test'
import { makeKey } from '../../../src/accounts/key-format.ts'
import { makeVoucher } from '../../../src/lib/primitives/signed-token.ts'
import { timeOrderedId } from '../../../src/lib/primitives/ids.ts'
import { secretIn } from './secrets.ts'

test('keys, links, codes and vendors’ keys are known, whole or in part, and whatever is around them', () => {
  const key = makeKey()
  expect([key, ` ${key}\n`, `Bearer ${key}`, key.slice(0, 20), `"${key}"`].map(secretIn)).toEqual(Array(5).fill('key'))
  expect(secretIn(key.slice(10))).toBe('other')
  expect(secretIn(makeVoucher())).toBe('code')
  expect(secretIn(`mk-tg-${key.slice(6)}`)).toBe('management_key')
  expect(secretIn(`https://gate.example/console/setup#setup_${key.slice(6)}`)).toBe('link')
  expect(secretIn(`task_${key.slice(6, 38)}`)).toBe('video')
  for (const vendors of [
    'sk-proj-Zx81kqPw_aa-39skdjfh38sj',
    'sk-ant-api03-abcDEF123_-abcDEF123',
    'AIzaSyA-1234567890abcdefghijklmnop',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx',
  ])
    expect([vendors, secretIn(vendors)]).toEqual([vendors, 'other'])
})

test('names, ids and the end of a key are no secrets', () => {
  for (const plain of [
    '',
    'prod',
    'sk-tg-…WXYZ',
    'WXYZ',
    'sk-tg-',
    'Customer Success Berlin 2026',
    'accounts/fireworks/models/llama-v3p1-405b-instruct',
    'Qwen3-Coder-480B-A35B-Instruct-FP8-Dynamic',
    'anthropic.claude-sonnet-4-5-20250929-v1:0',
    ...['acct_', 'key_', 'req_', 'user_', 'aud_'].map(timeOrderedId),
  ])
    expect([plain, secretIn(plain)]).toEqual([plain, undefined])
})
