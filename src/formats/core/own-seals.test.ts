import { expect, test } from 'bun:test'
import type { Dialect, SealedData, Turn } from '../../domain/turn.ts'
import { detailOf, readDetails } from '../chat/reasoning-details.ts'
import { readSignature, writeSignature } from '../gemini/signature.ts'
import { readStamp, signatureOf } from '../messages/seal.ts'
import { sealedReply, withOwnSeals } from './own-seals.ts'
import { sealedFrom, sealedText } from '../responses/sealed.ts'

const seal = (account?: string): SealedData => ({ origin: 'responses', data: 'gAAA:b', form: 'rs_1', account })
const turnWith = (sealed: SealedData): Turn => ({
  messages: [{ role: 'assistant', parts: [{ kind: 'reasoning', text: 'hm', sealed }] }],
  tools: [],
  choices: 1,
  foreign: [],
})

test('a seal of one account goes to no other, and a seal without an account goes where it came from', () => {
  const others = withOwnSeals(turnWith(seal('one')), 'other').messages[0]?.parts[0]
  expect(others).toEqual({ kind: 'reasoning', text: 'hm', sealed: undefined })
  for (const [sealed, own] of [
    [seal('one'), 'one'],
    [seal(), 'one'],
    [seal('one'), undefined],
  ] as const) {
    const turn = turnWith(sealed)
    expect(withOwnSeals(turn, own)).toBe(turn)
  }
})

test('an answer’s seals carry its account, except signatures that work for every account', () => {
  const reply = (origin: Dialect) => {
    const sealed: SealedData = { origin, data: 'x' }
    const parts = [{ kind: 'reasoning', text: 'hm', sealed }] as const
    return sealedReply({ choices: [{ parts, finish: 'stop' }], usage: undefined }, 'one').choices[0]?.parts[0]
  }
  expect(reply('responses')).toMatchObject({ sealed: { account: 'one' } })
  expect(reply('messages')).not.toHaveProperty('sealed.account')
})

test.each(['my provider@eu:1', 'ä/b', undefined])(
  'the name %p comes back through clients of every dialect',
  (account) => {
    const sealed = seal(account)
    expect(sealedFrom(sealedText(sealed))).toEqual(sealed)
    expect(readSignature(writeSignature(sealed))).toEqual(sealed)
    expect(readStamp(signatureOf(sealed))?.sealed).toEqual(sealed)
    expect(readDetails([detailOf('', sealed)])[0]?.sealed).toEqual(sealed)
  },
)
