import { expect, test } from 'bun:test'
import { discreet, toldOf } from './failure.ts'

test('a record keeps our words of a failure, and of what an upstream said its status and code alone', () => {
  const message = 'it went wrong'
  expect(toldOf({ kind: 'network', message })).toEqual({ message })
  expect(toldOf({ kind: 'garbage', status: 200, message })).toEqual({ status: 200, message })
  expect(toldOf({ kind: 'network', message: 'x'.repeat(1_000) }).message).toHaveLength(200)
  // Whatever comes with them.
  expect(toldOf({ kind: 'server', message, isQuoted: true })).toEqual({})
  expect(toldOf({ kind: 'timeout', message, isQuoted: true })).toEqual({})
  expect(toldOf({ kind: 'bad_request', status: 400, code: 'c', message, isQuoted: true })).toEqual({
    status: 400,
    code: 'c',
  })
  // Ours beside a status may have a word of the answer in it: why a prompt was blocked, say.
  expect(toldOf({ kind: 'policy', status: 200, message })).toEqual({ status: 200 })
})

test('no code or field that tells of a credential is kept, nor a code that is a word of the request', () => {
  const said = (code: string): unknown =>
    discreet({ kind: 'auth', message: '', code, param: code }, 'sk-live-0123456789', (word) => word === 'violets')
  const plain = { kind: 'auth', message: '' }
  expect(said('invalid_key')).toEqual({ ...plain, code: 'invalid_key', param: 'invalid_key' })
  expect(said('live')).toEqual({ ...plain, code: 'live', param: 'live' })
  for (const code of ['sk-live-0123456789', 'bad_key.sk-live-0123456789', '0123456789'])
    expect(said(code)).toEqual(plain)
  expect(said('violets')).toEqual({ ...plain, param: 'violets' })
})

test('a failure that is judged by words of the request rests no offer', () => {
  const judged = {
    kind: 'funds',
    message: 'insufficient balance: not a field',
    evidence: 'insufficient balance',
  } as const
  expect(discreet(judged, undefined, () => true)).toMatchObject({ kind: 'funds', isDoubtful: true })
  expect(discreet(judged, undefined, () => false)).not.toHaveProperty('isDoubtful')
  expect(discreet({ kind: 'funds', message: '' }, undefined, () => true)).not.toHaveProperty('isDoubtful')
})
