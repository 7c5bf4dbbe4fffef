import { expect, test } from 'bun:test'
import { claimRoom } from './room.ts'

const MB = 1024 * 1024
const form = { 'content-type': 'multipart/form-data; boundary=b' }
const enter = (bytes: number | undefined, type: Record<string, string> = form): (() => void) | undefined =>
  claimRoom(new Headers({ ...type, ...(bytes === undefined ? {} : { 'content-length': String(bytes) }) }))

test('there is only so much room at once, and it is given up again', () => {
  const first = enter(100 * MB, {})
  const unsaid = [enter(undefined, {}), enter(undefined)]
  expect(unsaid.map((leave) => typeof leave)).toEqual(['function', 'function'])
  expect([enter(100 * MB), enter(undefined)]).toEqual([undefined, undefined])
  expect(typeof enter(undefined, {})).toBe('function')
  first?.()
  const second = enter(undefined)
  expect(typeof second).toBe('function')
  for (const leave of [...unsaid, second]) leave?.()
  expect(typeof enter(256 * MB)).toBe('function')
})
