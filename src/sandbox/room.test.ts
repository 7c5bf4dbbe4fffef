import { expect, test } from 'bun:test'
import { makeRoom } from './room.ts'

const MB = 1024 * 1024
const form = { 'content-type': 'multipart/form-data; boundary=b' }
const enter = (bytes: number | undefined, type: Record<string, string> = form): (() => void) | undefined =>
  makeRoom(new Headers({ ...type, ...(bytes === undefined ? {} : { 'content-length': String(bytes) }) }))

test('one may be as large as it is, beside others there is only so much room, and it is given up again', () => {
  const huge = enter(600 * MB)
  expect([typeof huge, enter(MB)]).toEqual(['function', undefined])
  huge?.()
  const first = enter(200 * MB, {})
  expect(enter(100 * MB)).toBeUndefined()
  const unsaid = enter(undefined, {})
  expect(enter(undefined)).toBeUndefined()
  first?.()
  const second = enter(undefined)
  expect(typeof second).toBe('function')
  for (const leave of [unsaid, second]) leave?.()
  expect(typeof enter(256 * MB)).toBe('function')
})
