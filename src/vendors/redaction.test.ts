import { expect, test } from 'bun:test'
import { redactFailure, keptOf } from './redaction.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { PrivateTexts } from './kept-words.ts'

test('a record keeps our words of a failure, and of what an upstream said what may be kept', () => {
  const message = 'it went wrong'
  expect(keptOf({ kind: 'network', message })).toEqual({ message })
  expect(keptOf({ kind: 'garbage', status: 200, message })).toEqual({ status: 200, message })
  expect(keptOf({ kind: 'network', message: 'x'.repeat(1_000) }).message).toHaveLength(200)
  // Whatever comes with them.
  expect(keptOf({ kind: 'server', message, isQuoted: true })).toEqual({})
  expect(keptOf({ kind: 'timeout', message, isQuoted: true, keptMessage: 'it' })).toEqual({ message: 'it' })
  const said = { status: 400, code: 'c', type: 't', requestId: 'r' }
  expect(keptOf({ kind: 'bad_request', ...said, message, isQuoted: true })).toEqual(said)
  // Ours beside a status may have a word of the answer in it: why a prompt was blocked, say.
  expect(keptOf({ kind: 'policy', status: 200, message })).toEqual({ status: 200 })
})

const texts = new PrivateTexts(['a poem of violets, an insufficient balance'])
const options = { secret: 'sk-live-0123456789', texts, known: [], keepsMessages: true }

test('no code, type, id or field that tells of a credential is kept, nor a word of the request', () => {
  const said = (code: string): unknown =>
    redactFailure({ kind: 'auth', message: '', code, type: code, requestId: code, param: code }, options)
  const plain = { kind: 'auth', message: '' }
  const kept = (word: string): object => ({ ...plain, code: word, type: word, requestId: word, param: word })
  expect(said('invalid_key')).toEqual(kept('invalid_key'))
  expect(said('live')).toEqual(kept('live'))
  for (const code of ['sk-live-0123456789', 'bad_key.sk-live-0123456789', '0123456789'])
    expect(said(code)).toEqual(plain)
  expect(said('violets')).toEqual({ ...plain, param: 'violets' })
})

test('what may be kept of a vendor’s message is beside it, where the operator wants it', () => {
  const failure: UpstreamFailure = { kind: 'server', message: 'no violets left on shard 7', isQuoted: true }
  expect(redactFailure(failure, options)).toEqual({ ...failure, keptMessage: 'no … left on shard 7' })
  expect(redactFailure(failure, { ...options, keepsMessages: false })).toEqual(failure)
  expect(redactFailure({ kind: 'network', message: 'ours' }, options)).toEqual({ kind: 'network', message: 'ours' })
})

test('a failure that is judged by words of the request rests no offer', () => {
  const judged = { kind: 'funds', message: 'insufficient balance: no field', evidence: 'insufficient balance' } as const
  expect(redactFailure(judged, options)).toMatchObject({ kind: 'funds', isDoubtful: true })
  expect(redactFailure({ ...judged, evidence: 'arrears' }, options)).not.toHaveProperty('isDoubtful')
  expect(redactFailure({ kind: 'funds', message: '' }, options)).not.toHaveProperty('isDoubtful')
  const unknown = { ...options, texts: new PrivateTexts(undefined) }
  expect(redactFailure(judged, unknown)).toMatchObject({ isDoubtful: true })
  expect(redactFailure({ kind: 'funds', message: '' }, unknown)).not.toHaveProperty('isDoubtful')
})

test('a credential as short as a letter is found in no ordinary word', () => {
  const failure: UpstreamFailure = { kind: 'server', message: 'a bucket broke', isQuoted: true, code: 'ok_bucket' }
  const kept = { code: 'ok_bucket', keptMessage: 'a bucket broke' }
  expect(redactFailure(failure, { ...options, secret: 'k' })).toMatchObject(kept)
})
