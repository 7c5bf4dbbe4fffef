import { expect, test } from 'bun:test'
import { OPENING, ownReasonOf, reasonOfCode } from './system-reasons.ts'

test('our own reasons are recognised, with their facts', () => {
  expect(ownReasonOf('opening:acct_1', OPENING)).toMatchObject({ reason: 'opening' })
  expect(ownReasonOf('code:code_1', reasonOfCode('AB12', ''))).toMatchObject({ reason: 'code', facts: { end: 'AB12' } })
  for (const note of ['spring', 'a (b)', 'two\nlines', '{end}'])
    expect(ownReasonOf('code:code_1', reasonOfCode('AB12', note))).toMatchObject({
      reason: 'code_noted',
      facts: { end: 'AB12', note },
    })
})

test('a reason that a person typed is not one of ours', () => {
  expect(ownReasonOf('credit_1', OPENING)).toBeUndefined()
  expect(ownReasonOf('opening:acct_1', 'a gift')).toBeUndefined()
  expect(ownReasonOf('code:mine', 'a gift')).toBeUndefined()
})
