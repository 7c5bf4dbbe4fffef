import { expect, test } from 'bun:test'
import { OPENING, ownReasonOf, reasonOfCode } from './system-reasons.ts'

test('reasons of our own are known again, with what is in them', () => {
  expect(ownReasonOf('opening:acct_1', OPENING)).toMatchObject({ reason: 'opening' })
  expect(ownReasonOf('code:code_1', reasonOfCode('AB12', ''))).toMatchObject({ reason: 'code', facts: { end: 'AB12' } })
  for (const note of ['spring', 'a (b)', 'two\nlines', '{end}'])
    expect(ownReasonOf('code:code_1', reasonOfCode('AB12', note))).toMatchObject({
      reason: 'code_noted',
      facts: { end: 'AB12', note },
    })
})

test('what somebody typed is nobody else’s', () => {
  expect(ownReasonOf('credit_1', OPENING)).toBeUndefined()
  expect(ownReasonOf('opening:acct_1', 'a gift')).toBeUndefined()
  expect(ownReasonOf('code:mine', 'a gift')).toBeUndefined()
})
