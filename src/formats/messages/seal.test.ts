import { expect, test } from 'bun:test'
import { readStamp, signatureOf } from './seal.ts'

test('a sealed item comes back unchanged, and an invented stamp holds nothing', () => {
  const sealed = { origin: 'chat', data: 'a:b%', form: 'x:y %' } as const
  expect(readStamp(signatureOf(sealed, 'call'))).toEqual({ sealed, belongsTo: 'call' })
  expect(readStamp(signatureOf(undefined))).toEqual({ sealed: undefined, belongsTo: 'thought' })
  expect(readStamp('of the vendor')).toBeUndefined()
  for (const form of ['%', '%zz', '%E0%A4', '%c0'])
    expect(readStamp(`tollgate-seal:call:chat:${form}:x`)).toEqual({ sealed: undefined, belongsTo: 'thought' })
})
