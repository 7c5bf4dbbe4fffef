import { expect, test } from 'bun:test'
import { readId } from './ids.ts'

/** Ids of the first versions, and current ids. */
const tails = ['01m7zh4vfyaqznjycpdm614pv0', '01m7zh4vfyaqznjycpdm614pv0k3x8d2e9w1']
const [tail = ''] = tails

test.each(
  tails.flatMap(
    (tail) =>
      [
        [`req_${tail}`, { kind: 'request', id: `req_${tail}` }],
        [` chatcmpl-${tail} `, { kind: 'request', id: `req_${tail}` }],
        [`resp_${tail}`, { kind: 'request', id: `req_${tail}` }],
        [`msg_${tail}`, { kind: 'request', id: `req_${tail}` }],
        [`key_${tail}`, { kind: 'key', id: `key_${tail}` }],
        [`acct_${tail}`, { kind: 'account', id: `acct_${tail}` }],
        [`mkey_${tail}`, { kind: 'program', id: `mkey_${tail}` }],
        [`task_${'aB3'.repeat(10)}xy`, { kind: 'task', id: `task_${'aB3'.repeat(10)}xy` }],
      ] as const,
  ),
)('%s', (text, expected) => {
  expect(readId(text)).toEqual(expected)
})

test('what only looks like an id is none', () => {
  for (const text of ['', 'req_', 'req_short', `sk-tg-${tail}`, `req_${tail}x`, 'keys', `req_${tail}${tail}`])
    expect(readId(text)).toBeUndefined()
})
