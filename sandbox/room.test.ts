import { expect, test } from 'bun:test'
import { claimRoom } from './room.ts'
import { MIB } from '../src/lib/primitives/units.ts'

const form = { 'content-type': 'multipart/form-data; boundary=b' }
const enter = (bytes: number | undefined, type: Record<string, string> = form): (() => void) | undefined =>
  claimRoom(new Headers({ ...type, ...(bytes === undefined ? {} : { 'content-length': String(bytes) }) }))

test('memory for bodies is bounded, and given back', () => {
  const first = enter(100 * MIB, {})
  const unsaid = [enter(undefined, {}), enter(undefined)]
  expect(unsaid.map((leave) => typeof leave)).toEqual(['function', 'function'])
  expect([enter(100 * MIB), enter(undefined)]).toEqual([undefined, undefined])
  expect(typeof enter(undefined, {})).toBe('function')
  first?.()
  const second = enter(undefined)
  expect(typeof second).toBe('function')
  for (const leave of [...unsaid, second]) leave?.()
  expect(typeof enter(256 * MIB)).toBe('function')
})
