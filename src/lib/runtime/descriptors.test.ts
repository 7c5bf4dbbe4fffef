import { expect, test } from 'bun:test'
import { clientsWithin, softLimitIn } from './descriptors.ts'

const table = (soft: string): string => `Limit                     Soft Limit           Hard Limit           Units
Max processes             95718                95718                processes
Max open files            ${soft.padEnd(20)} 1048576              files
`

test('the limit in force is the soft one', () => {
  expect(softLimitIn(table('1024'))).toBe(1_024)
  expect(softLimitIn(table('unlimited'))).toBe(Number.MAX_SAFE_INTEGER)
  expect(softLimitIn('nothing of the kind')).toBe(10_240)
})

test('clients share the descriptors that are not reserved', () => {
  const two = { perClient: 2, others: 0 }
  expect([64, 256, 1_024, 65_536].map((descriptors) => clientsWithin(descriptors, two))).toEqual([8, 104, 448, 32_512])
  expect(clientsWithin(1_024, { perClient: 3, others: 64 })).toBe(277)
  expect(clientsWithin(16, two)).toBe(1)
})
